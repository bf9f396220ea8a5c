import { openSync, writeSync } from 'node:fs';
import { type Connection, connect } from '@acemq/amqp';
import type { Logger } from '@acemq/core';
import type { Answers, Assignment, Farewell, Question, Report, Sample } from './orders.ts';

const SAMPLE_EVERY = 2_000;

/** The part of a process that its role brings along. */
export interface Work {
  /** What counts for the samples. */
  progress(): Pick<Sample, 'done' | 'open' | 'held'>;
  /** See {@link Answers.rest}. */
  rest(): Promise<Answers['rest']>;
  /** What the role has to say at the end. */
  farewell(): Pick<Farewell, 'unexpected' | 'slowest' | 'late'>;
}

/** What a process of the crew was told to do. */
export const assignment: Assignment = JSON.parse(process.argv[2] ?? 'null') as Assignment;

/** The library's connection with limits that suit faults of a few seconds. */
export function connectForSoak(): Promise<Connection> {
  return connect(assignment.url, {
    name: assignment.name,
    permits: 300,
    confirmTimeout: '3s',
    connectTimeout: '3s',
    heartbeat: '2s',
    reconnect: { initial: '100ms', max: '2s' },
    logger: fileLogger(assignment.log),
  });
}

/** Does the work until the director says that it is over. Ends with the director. */
export function serve(mq: Connection, work: Work): void {
  const uncaught: string[] = [];
  const note = (error: unknown): void => void uncaught.push(textOf(error));
  process.on('uncaughtException', note).on('unhandledRejection', note);
  process.once('disconnect', () => process.exit(1));
  // The terminal tells everybody; the director ends the run.
  process.on('SIGINT', () => {});
  const sampling = setInterval(() => tell({ type: 'sample', sample: sampleOf(work) }), SAMPLE_EVERY);
  const answers: { readonly [Q in Question]: () => Promise<Answers[Q]> } = {
    async health() {
      const { status, detail } = await mq.health();
      return { status, detail: `${mq.state}${detail === '' ? '' : `: ${detail}`}` };
    },
    rest: () => work.rest(),
    async close() {
      clearInterval(sampling);
      const { finished } = await mq.close();
      // A socket that was destroyed is gone after the next turn of the event loop.
      await new Promise((resolve) => setImmediate(resolve));
      await new Promise((resolve) => setImmediate(resolve));
      const leftovers = process.getActiveResourcesInfo().filter(isSocketOrTimer);
      return { finished, leftovers, uncaught, ...work.farewell() };
    },
  };
  process.on('message', (question: Question) => {
    answers[question]().then(
      (answer) => tell({ type: 'answer', question, answer }),
      (error: unknown) => note(error),
    );
  });
  tell({ type: 'ready' });
}

function sampleOf(work: Work): Sample {
  globalThis.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  const resources = process.getActiveResourcesInfo();
  return {
    heap: heapUsed / 2 ** 20,
    rss: rss / 2 ** 20,
    sockets: resources.filter((name) => name === 'TCPSocketWrap').length,
    timers: resources.filter((name) => name === 'Timeout').length,
    ...work.progress(),
  };
}

function isSocketOrTimer(resource: string): boolean {
  return ['TCPSocketWrap', 'TCPConnectWrap', 'Timeout', 'GetAddrInfoReqWrap'].includes(resource);
}

function tell(report: Report): void {
  process.send?.(report);
}

/** An error as a line of a report. */
export function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function fileLogger(path: string): Logger {
  const file = openSync(path, 'a');
  const line =
    (level: string) =>
    (message: string, details?: object): void => {
      const text = JSON.stringify(details, (_, value: unknown) =>
        value instanceof Error ? value.message : value,
      );
      writeSync(file, `${new Date().toISOString()} ${level} ${message} ${text ?? ''}\n`);
    };
  return { debug() {}, info: line('info'), warn: line('warn'), error: line('error') };
}
