import { randomUUID } from 'node:crypto';
import type { Logger } from '@acemq/core';
import { Metrics } from '@acemq/observe';
import { type ManualClock, type MemoryBroker, manualClock, memoryBroker } from '@acemq/testing';
import { onTestFinished } from 'vitest';
import { type Connection, type ConnectOptions, connect } from '../src/index.ts';

/** A line that the library logged. */
export interface LogLine {
  readonly level: keyof Logger;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** A logger that keeps what it is told. */
export function keepingLogger(): Logger & { readonly lines: LogLine[] } {
  const lines: LogLine[] = [];
  const keep =
    (level: keyof Logger) =>
    (message: string, details: Readonly<Record<string, unknown>> = {}): void => {
      lines.push({ level, message, details });
    };
  return { lines, debug: keep('debug'), info: keep('info'), warn: keep('warn'), error: keep('error') };
}

/** One test's broker, connection, numbers and log. */
export interface Setting {
  readonly broker: MemoryBroker;
  readonly mq: Connection;
  readonly metrics: Metrics;
  readonly log: LogLine[];
  /** A queue name of this test's own. */
  readonly queue: string;
}

/** Opens a connection on a broker of its own, which is closed when the test ends. */
export async function onMemory(
  options: ConnectOptions = {},
  broker: MemoryBroker = memoryBroker(),
): Promise<Setting> {
  const metrics = new Metrics();
  const logger = keepingLogger();
  const mq = await connect(broker, { observer: metrics, logger, ...options });
  onTestFinished(async () => {
    await mq.close({ timeout: 0 });
  });
  return { broker, mq, metrics, log: logger.lines, queue: `orders-${randomUUID().slice(0, 8)}` };
}

/** The same with a clock that the test moves. */
export async function onManualTime(
  options: ConnectOptions = {},
): Promise<Setting & { readonly clock: ManualClock }> {
  const clock = manualClock();
  const setting = await onMemory(options, memoryBroker({ clock }));
  return { ...setting, clock };
}

/** A promise, and the two ways to end it. */
export function deferred<T = void>(): {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
} {
  let resolve: (value: T) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
