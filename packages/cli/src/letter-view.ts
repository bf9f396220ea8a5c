import { HEADER_FIRST_SEEN } from '@acemq/core';
import type { Letter } from '@acemq/patterns/replay';
import { ago } from './words.ts';

/** The age of a message as a cell; `?` for one that does not say when it was first published. */
export function ageOf({ age, headers }: Letter): string {
  return Object.hasOwn(headers, HEADER_FIRST_SEEN) ? ago(age) : '?';
}

/** What a program reads of a message. */
export function letterJson(letter: Letter): Record<string, unknown> {
  const { envelope, reason, attempts, age, exchange, routingKey, contentType, body, redelivered, replayed } =
    letter;
  return {
    id: envelope.id,
    type: envelope.type,
    version: envelope.version,
    reason: reason ?? null,
    attempts,
    firstSeen: new Date(envelope.firstSeen).toISOString(),
    ageSeconds: Math.round(age / 1000),
    correlationId: envelope.correlationId,
    causationId: envelope.causationId ?? null,
    origin: envelope.origin ?? null,
    exchange,
    routingKey,
    contentType: contentType ?? null,
    bytes: body.byteLength,
    redelivered,
    replayed: replayed.count === 0 ? null : replayed,
  };
}
