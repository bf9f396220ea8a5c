import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '@acemq/amqp';
import { accept, deadLetterQueueName, parkedQueueName } from '@acemq/core';
import { type FaultNode, startNode } from '@acemq/fault-node';
import { type FaultProxy, faultProxy } from '@acemq/testing';
import type { SoakArguments } from './arguments.ts';
import { messagesOn, openOn } from './broker-counts.ts';
import { CrewMember } from './crew.ts';
import { carryOut } from './faults.ts';
import { readSent, readWorked } from './journal.ts';
import { Ledger } from './ledger.ts';
import type { Assignment } from './orders.ts';
import { planOf } from './plan.ts';
import { QUEUES, soakTopology } from './queues.ts';
import type { Findings } from './verdict.ts';

/** Neighbours hit different queues and fates, so two of each are enough for every combination. */
const PUBLISHERS = 2;
const CONSUMERS = 2;
/** A delivery may be out for so long. Alarms last longer at times, so that some are taken back. */
const CONSUMER_TIMEOUT = 8_000;
/** Milliseconds for the links to come back and the broker to forget the dead ones. */
const RESTORE_PATIENCE = 60_000;
/** Milliseconds for the last messages to climb their rungs. */
const DRAIN_PATIENCE = 120_000;
const CLOSE_PATIENCE = 20_000;
const POLL = 250;
const PROGRESS_EVERY = 10_000;

/** What a run has found, and what happened in it. */
export interface Result {
  readonly findings: Findings;
  /** How many faults of each kind there were. */
  readonly faults: ReadonlyMap<string, number>;
  /** The journals and the logs of the crew. */
  readonly folder: string;
}

/** One run on a node of its own. */
export class Director {
  readonly #arguments: SoakArguments;
  readonly #print: (line: string) => void;
  readonly #abort = new AbortController();
  readonly #crew: CrewMember[] = [];
  readonly #proxies: FaultProxy[] = [];
  #started = performance.now();
  readonly folder: string = mkdtempSync(join(tmpdir(), 'acemq-soak-'));
  #node: FaultNode | undefined;

  constructor(soak: SoakArguments, print: (line: string) => void) {
    this.#arguments = soak;
    this.#print = print;
  }

  /** Runs to the end. Rejects when the run itself fails: a process that ends, a broker that does not start. */
  async run(): Promise<Result> {
    const node = await startNode({ consumer_timeout: CONSUMER_TIMEOUT });
    this.#node = node;
    await this.#declare(node.url);
    await this.#enlist(node.url);
    const faults = await this.#disturb(node);
    const notRestored = await this.#restored(node);
    const rests = await Promise.all(this.#crew.map((member) => member.ask('rest')));
    const left = await this.#drained(node);
    const farewells = await Promise.all(this.#crew.map((member) => member.ask('close')));
    const connectionsLeft = await this.#deserted(node);
    const ledger = await this.#ledger(rests.map(({ sent }) => sent));
    await this.#readSetAside(node, ledger);
    return {
      faults,
      folder: this.folder,
      findings: {
        account: ledger.account(),
        notRestored,
        left,
        open: rests.reduce((sum, { unsettled }) => sum + unsettled, 0),
        connectionsLeft,
        crew: this.#crew.map(({ assignment, samples }, index) => ({
          name: assignment.name,
          samples,
          farewell: farewells[index] as (typeof farewells)[number],
        })),
      },
    };
  }

  /** Ends every process that belongs to the run. */
  async close(): Promise<void> {
    this.#abort.abort();
    await Promise.all(this.#crew.map((member) => member.end()));
    await Promise.all(this.#proxies.map((proxy) => proxy.close()));
    await this.#node?.close();
  }

  /** Removes the journals and the logs. */
  forget(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #declare(url: string): Promise<void> {
    const mq = await connect(url, { name: 'director' });
    await mq.declare(soakTopology());
    await mq.close();
  }

  async #enlist(url: string): Promise<void> {
    for (let index = 0; index < CONSUMERS; index += 1) await this.#start('consumer', index, url);
    for (let index = 0; index < PUBLISHERS; index += 1) await this.#start('publisher', index, url);
  }

  async #start(role: Assignment['role'], index: number, url: string): Promise<void> {
    const proxy = await faultProxy(url);
    this.#proxies.push(proxy);
    const file = (kind: string): string => join(this.folder, `${role}-${index}.${kind}`);
    const member = await CrewMember.start({
      role,
      name: `${role} ${index}`,
      url: proxy.url,
      journal: file('numbers'),
      log: file('log'),
      first: index,
      stride: PUBLISHERS,
    });
    this.#crew.push(member);
  }

  async #disturb(node: FaultNode): Promise<ReadonlyMap<string, number>> {
    const { seed, duration } = this.#arguments;
    const plan = planOf(seed, duration, this.#crew.length);
    const { signal } = this.#abort;
    this.#started = performance.now();
    const progress = setInterval(() => this.#progress(), PROGRESS_EVERY);
    try {
      const faults = carryOut(plan, { node, proxies: this.#proxies }, (text) => this.#tell(text), signal);
      const time = sleep(duration, undefined, { signal });
      const [counts] = await Promise.race([
        Promise.all([faults, time]),
        ...this.#crew.map((member) => member.failed),
      ]);
      return counts;
    } finally {
      clearInterval(progress);
    }
  }

  #tell(text: string): void {
    const seconds = ((performance.now() - this.#started) / 1000).toFixed(1);
    this.#print(`${seconds.padStart(7)} s  ${text}`);
  }

  #progress(): void {
    const latest = this.#crew.map(({ assignment: { name }, samples }) => {
      const sample = samples.at(-1);
      if (sample === undefined) return `${name}: nothing yet`;
      const { done, open, held, heap } = sample;
      return `${name}: ${done} done, ${open} open${held > 0 ? `, ${held} held` : ''}, ${heap.toFixed(0)} MB`;
    });
    this.#tell(`- ${latest.join(' | ')}`);
  }

  /** Waits until everything is as it was before the first fault. Resolves with what still is not. */
  async #restored(node: FaultNode): Promise<readonly string[]> {
    this.#tell('the faults are over');
    const connections = 2 * this.#crew.length;
    const consumers = QUEUES.length * CONSUMERS;
    const ask = async (): Promise<readonly string[]> => {
      const wrong: string[] = [];
      const open = await openOn(node);
      if (open.connections !== connections) wrong.push(`${open.connections} connections of ${connections}`);
      if (open.consumers !== consumers) wrong.push(`${open.consumers} subscriptions of ${consumers}`);
      const healths = await Promise.all(this.#crew.map((member) => member.ask('health')));
      healths.forEach(({ status, detail }, index) => {
        const name = this.#crew[index]?.assignment.name;
        if (status !== 'up' || !detail.startsWith('connected')) wrong.push(`${name} is ${status}, ${detail}`);
      });
      return wrong;
    };
    return until(RESTORE_PATIENCE, ask, (wrong) => wrong.length === 0);
  }

  /** Waits until the queues and the rungs are empty. Resolves with what still is in which. */
  async #drained(node: FaultNode): Promise<ReadonlyMap<string, number>> {
    this.#tell('the publishers rest');
    const ask = async (): Promise<ReadonlyMap<string, number>> => {
      const messages = await messagesOn(node);
      return new Map([...messages].filter(([queue, count]) => count > 0 && !/\.(dlq|parked)$/.test(queue)));
    };
    return until(DRAIN_PATIENCE, ask, (left) => left.size === 0);
  }

  /** Waits until the broker has no connection. Resolves with how many it still has. */
  async #deserted(node: FaultNode): Promise<number> {
    this.#tell('everybody has closed');
    const ask = async (): Promise<number> => (await openOn(node)).connections;
    return until(CLOSE_PATIENCE, ask, (connections) => connections === 0);
  }

  async #ledger(sent: readonly number[]): Promise<Ledger> {
    const ledger = new Ledger();
    for (const [index, { assignment }] of this.#crew.entries()) {
      const { role, journal, first, stride } = assignment;
      if (role === 'consumer') {
        await readWorked(journal, (number, step) => ledger.worked(number, step));
      } else {
        for (let one = 0; one < (sent[index] ?? 0); one += 1) ledger.started(first + one * stride);
        await readSent(journal, (number, outcome) => ledger.settled(number, outcome));
      }
    }
    return ledger;
  }

  async #readSetAside(node: FaultNode, ledger: Ledger): Promise<void> {
    const mq = await connect(node.url, { name: 'director' });
    for (const { name: queue } of QUEUES) {
      for (const where of ['dlq', 'parked'] as const) {
        const name = where === 'dlq' ? deadLetterQueueName(queue) : parkedQueueName(queue);
        const consumer = await mq.consume<{ readonly number: number }>(
          name,
          ({ payload }) => {
            ledger.setAside(payload.number, where);
            return accept();
          },
          { declare: false, prefetch: 500 },
        );
        const ask = async (): Promise<number> => (await messagesOn(node)).get(name) ?? 0;
        const left = await until(DRAIN_PATIENCE, ask, (count) => count === 0);
        if (left > 0) throw new Error(`${name} could not be read to its end`);
        await consumer.close();
      }
    }
    await mq.close();
  }
}

/** Asks until the answer is good, for so many milliseconds, and resolves with the last answer. */
async function until<T>(patience: number, ask: () => Promise<T>, good: (answer: T) => boolean): Promise<T> {
  const end = performance.now() + patience;
  for (;;) {
    const answer = await ask();
    if (good(answer) || performance.now() > end) return answer;
    await sleep(POLL);
  }
}
