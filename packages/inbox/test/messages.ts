import { createEnvelope, type Logger, type Message } from '@acemq/core';

/** A message as a consumer hands it to a handler. */
export function messageOf<T>(
  payload: T,
  fields: { readonly id?: string; readonly queue?: string } = {},
): Message<T> {
  return {
    payload,
    envelope: createEnvelope(
      { type: 'order.placed', id: fields.id },
      { routingKey: 'order.placed', now: Date.now() },
    ),
    queue: fields.queue ?? 'shipping.orders',
    exchange: 'orders-events',
    routingKey: 'order.placed',
    contentType: 'application/json',
    redelivered: false,
    body: new Uint8Array(),
    replyTo: undefined,
    signal: new AbortController().signal,
  };
}

/** A logger that keeps what it is told. */
export function keepingLogger(): Logger & { readonly lines: string[] } {
  const lines: string[] = [];
  const keep = (message: string): void => {
    lines.push(message);
  };
  return { lines, debug: keep, info: keep, warn: keep, error: keep };
}

let made = 0;

/** A name that no other test and no other process has. */
export function ownName(what: string): string {
  made += 1;
  return `t_${process.pid}_${Date.now() % 1_000_000}_${made}_${what}`;
}
