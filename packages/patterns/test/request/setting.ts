import { randomUUID } from 'node:crypto';
import { type Connection, type ConnectOptions, connect } from '@acemq/amqp';
import { type Envelope, type Logger, topology } from '@acemq/core';
import { Metrics } from '@acemq/observe';
import {
  type LinkChoice,
  type ManualClock,
  type MemoryBroker,
  manualClock,
  memoryBroker,
} from '@acemq/testing';
import { onTestFinished } from 'vitest';

const nothing = (): void => {};

/** Says nothing. */
export const SILENT: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** How long a test waits for what must come, where two busy cores are all there is. */
export const PATIENCE = { timeout: 15_000, interval: 10 } as const;

/** A question, and an answer, of most tests. */
export interface Sum {
  readonly a: number;
  readonly b: number;
}

/** One test's broker, connection and numbers, and a queue that is declared. */
export interface Setting {
  readonly broker: MemoryBroker;
  readonly mq: Connection;
  readonly metrics: Metrics;
  readonly queue: string;
}

/** A connection on a broker of its own, which is closed when the test ends. */
export async function onMemory(
  options: ConnectOptions = {},
  broker: MemoryBroker = memoryBroker(),
): Promise<Setting> {
  const metrics = new Metrics();
  const mq = await connect(broker, {
    observer: metrics,
    logger: SILENT,
    reconnect: { initial: 1, max: 10 },
    ...options,
  });
  onTestFinished(async () => {
    await mq.close({ timeout: 0 });
  });
  const queue = `sums-${randomUUID().slice(0, 8)}`;
  await mq.declare(topology().queue(queue));
  return { broker, mq, metrics, queue };
}

/** The same with a clock that the test moves. */
export async function onManualTime(
  options: ConnectOptions = {},
): Promise<Setting & { readonly clock: ManualClock }> {
  const clock = manualClock();
  const setting = await onMemory(options, memoryBroker({ clock }));
  return { ...setting, clock };
}

/** Cuts links, and resolves when as many have recovered. */
export async function loseLinks({ mq, broker }: Setting, choice: LinkChoice = {}): Promise<void> {
  const back = deferred();
  let missing = 0;
  const remove = mq.onState(({ type }) => {
    if (type !== 'recovered') return;
    missing -= 1;
    if (missing === 0) back.resolve();
  });
  missing = broker.dropLinks(choice);
  await back.promise;
  remove();
}

/** Answers a request by hand, as any responder would: to the address, under its correlation. */
export async function replyByHand(
  mq: Connection,
  request: { readonly address: string; readonly correlationId: string; readonly causationId?: string },
  payload: unknown,
  headers: Envelope['headers'] = {},
): Promise<void> {
  const { address, correlationId, causationId } = request;
  await mq
    .publisher({ allowUnroutable: true })
    .send(payload, { routingKey: address, correlationId, causationId, headers });
}

/** A promise, and the two ways to end it. */
export function deferred<T = void>(): {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
} {
  let resolve: (value: T) => void = nothing;
  let reject: (error: unknown) => void = nothing;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
