import { randomUUID } from 'node:crypto';
import { type Connection, type ConnectOptions, connect } from '@acemq/amqp';
import { accept, type Delivery, type Message } from '@acemq/core';
import { Metrics } from '@acemq/observe';
import { type ManualClock, type MemoryBroker, manualClock, memoryBroker } from '@acemq/testing';
import { onTestFinished, vi } from 'vitest';

/** A line that the library logged. */
interface LogLine {
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** One test's broker, connection, numbers and log. */
export interface Setting {
  readonly broker: MemoryBroker;
  readonly mq: Connection;
  readonly metrics: Metrics;
  readonly log: LogLine[];
}

/** Opens a connection on a broker of its own, which is closed when the test ends. */
export async function onMemory(
  options: ConnectOptions = {},
  broker: MemoryBroker = memoryBroker(),
): Promise<Setting> {
  const metrics = new Metrics();
  const log: LogLine[] = [];
  const keep = (message: string, details: Readonly<Record<string, unknown>> = {}): void => {
    log.push({ message, details });
  };
  const logger = { debug: keep, info: keep, warn: keep, error: keep };
  const mq = await connect(broker, { observer: metrics, logger, ...options });
  onTestFinished(async () => {
    await mq.close({ timeout: 0 });
  });
  return { broker, mq, metrics, log };
}

/** The same with a clock that the test moves. */
export async function onManualTime(
  options: ConnectOptions = {},
): Promise<Setting & { readonly clock: ManualClock }> {
  const clock = manualClock();
  return { ...(await onMemory(options, memoryBroker({ clock }))), clock };
}

/** A name of this test's own, of which a pipeline may be made. */
export function ownName(of = 'onboarding'): string {
  return `${of}-${randomUUID().slice(0, 8)}`;
}

/** Keeps the messages of a queue, and accepts them. */
export async function kept(mq: Connection, queue: string): Promise<readonly Message[]> {
  const messages: Message[] = [];
  await mq.consume(queue, (message) => {
    messages.push(message);
    return accept();
  });
  return messages;
}

/** Takes what is in a queue, without the dead letters of its own that a consumer would declare. */
export async function pulled(mq: Connection, queue: string): Promise<Delivery[]> {
  const found: Delivery[] = [];
  for (let one = await mq.pull(queue); one !== undefined; one = await mq.pull(queue)) {
    one.ack();
    found.push(one);
  }
  return found;
}

/** Waits until it throws no more: seldom long, and longer on a busy machine. */
export function until<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: 15_000, interval: 10 });
}
