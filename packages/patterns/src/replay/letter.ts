import { ageOf, type Delivery, type Envelope, readEnvelope } from '@acemq/core';
import { type Replayed, readReplayed } from './replay-headers.ts';

/** A message in a dead-letter queue, as somebody sees it who looks or chooses. Its body is not decoded. */
export interface Letter {
  readonly envelope: Envelope;
  /** Why it was set aside; undefined where nobody wrote it, as on what the broker itself dead-lettered. */
  readonly reason: string | undefined;
  /** How often it was delivered before it was set aside. */
  readonly attempts: number;
  /** Milliseconds since it was first published. For one that does not say when, since it was read. */
  readonly age: number;
  /** The exchange and the key that it came to this queue with. */
  readonly exchange: string;
  readonly routingKey: string;
  readonly contentType: string | undefined;
  /** The bytes as they came, not a copy: leave them as they are. */
  readonly body: Uint8Array;
  /** All headers as they came, the library's own and the broker's among them. */
  readonly headers: Readonly<Record<string, unknown>>;
  /** Whether somebody was given it before and put it back, as a look does. */
  readonly redelivered: boolean;
  /** What it says of an earlier replay. */
  readonly replayed: Replayed;
}

/** @param now - Milliseconds since the epoch. */
export function letterOf(delivery: Delivery, now: number): Letter {
  const envelope = readEnvelope(delivery, now);
  return Object.freeze({
    envelope,
    reason: envelope.error,
    attempts: envelope.attempt,
    age: ageOf(envelope, now),
    exchange: delivery.exchange,
    routingKey: delivery.routingKey,
    contentType: delivery.contentType,
    body: delivery.body,
    headers: delivery.headers,
    redelivered: delivery.redelivered,
    replayed: readReplayed(envelope.headers),
  });
}
