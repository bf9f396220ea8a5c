import { ConfigurationError, checkQueueName } from '@acemq/core';
import { type ReplayReport, type ReplayTarget, replay, sourceQueueOf } from '@acemq/patterns/replay';
import { flagsAndNames, plainText, wholeNumber } from '@acemq/terminal';
import { interruption, onBroker } from './broker.ts';
import { DONE, INTERRUPTED, LEFT } from './exit-codes.ts';
import { FILTER_FLAGS, filterOf } from './filters.ts';
import type { Surroundings } from './main.ts';
import { ProgressLine } from './progress-line.ts';
import { noMore, QUEUE_FLAGS, queueOf } from './queue-options.ts';
import { tellOfQuorum } from './quorum.ts';
import { messages } from './words.ts';

const FLAGS = {
  ...QUEUE_FLAGS,
  ...FILTER_FLAGS,
  to: { type: 'string' },
  exchange: { type: 'string' },
  key: { type: 'string' },
  limit: { type: 'string' },
  rate: { type: 'string' },
  window: { type: 'string' },
  'keep-attempts': { type: 'boolean' },
  'dry-run': { type: 'boolean' },
  quiet: { type: 'boolean' },
  json: { type: 'boolean' },
} as const;

/** `acemq dlq replay`: resolves to the exit code. */
export async function replayCommand(args: readonly string[], around: Surroundings): Promise<number> {
  const { values, positionals } = flagsAndNames(args, FLAGS);
  noMore(positionals, 1);
  const queue = queueOf(positionals[0], values);
  const to = targetOf(queue, values);
  const only = filterOf(values);
  const signal = interruption(around);
  const options = {
    to,
    only,
    signal,
    limit: values.limit === undefined ? undefined : wholeNumber(values.limit, 'limit'),
    rate: values.rate === undefined ? undefined : rateOf(values.rate),
    window: values.window === undefined ? undefined : wholeNumber(values.window, 'window'),
    restart: values['keep-attempts'] !== true,
    dryRun: values['dry-run'] === true,
  };
  return onBroker(around, values.url, async (mq) => {
    const progress = new ProgressLine(around, options.dryRun ? 'looked at' : 'moved', options.limit);
    const onProgress = values.quiet === true ? undefined : progress.tell;
    const report = await replay(mq, queue, { ...options, onProgress }).finally(() => progress.end());
    around.stdout.write(
      values.json === true ? `${JSON.stringify({ queue, ...report })}\n` : said(queue, to, report),
    );
    if (report.dryRun || report.skipped > 0 || report.cameBack > 0) tellOfQuorum(around, queue, report.kind);
    if (report.reason === 'aborted') return INTERRUPTED;
    const isWhole = report.moved > 0 && report.cameBack === 0 && report.reason !== 'deadline';
    return isWhole ? DONE : LEFT;
  });
}

function targetOf(
  queue: string,
  {
    to,
    exchange,
    key,
  }: {
    readonly to?: string | undefined;
    readonly exchange?: string | undefined;
    readonly key?: string | undefined;
  },
): ReplayTarget | undefined {
  if (to !== undefined && exchange !== undefined) {
    throw new ConfigurationError('--to and --exchange cannot both be given');
  }
  if (key !== undefined && exchange === undefined) throw new ConfigurationError('--key needs --exchange');
  if (exchange !== undefined) return { exchange, ...(key === undefined ? {} : { routingKey: key }) };
  if (to !== undefined) return checkQueueName(to);
  if (sourceQueueOf(queue) === undefined) {
    throw new ConfigurationError(
      `--to is missing: ${JSON.stringify(queue)} does not say where its messages came from`,
    );
  }
  return undefined;
}

function rateOf(text: string): number {
  const rate = Number(text);
  if (text.trim() !== '' && Number.isFinite(rate) && rate > 0) return rate;
  throw new ConfigurationError(
    `--rate must be a number of messages a second above 0, not ${JSON.stringify(text)}`,
  );
}

function said(queue: string, to: ReplayTarget | undefined, report: ReplayReport): string {
  const { moved, skipped, cameBack, reason, dryRun } = report;
  const where =
    typeof to === 'object'
      ? `exchange ${to.exchange}${to.routingKey === undefined ? '' : ` with key ${to.routingKey}`}`
      : (to ?? sourceQueueOf(queue) ?? '');
  const lines = [
    plainText(`${messages(moved)} ${dryRun ? 'would be moved' : 'moved'} from ${queue} to ${where}`),
  ];
  if (skipped > 0) lines.push(`${messages(skipped)} left out: they do not match`);
  if (cameBack > 0)
    lines.push(`${messages(cameBack)} came back meanwhile, and were left: the handler still fails`);
  if (reason === 'limit') lines.push('The limit is reached; more may be there.');
  if (reason === 'aborted') lines.push('Interrupted. What was moved stays moved, the rest is where it was.');
  return `${lines.join('\n')}\n`;
}
