import { BrokerRefusedError } from '@acemq/core';

/** What the broker said when it closed a channel or the connection. */
export interface Reply {
  /** The reply code of AMQP 0-9-1, for example 404. */
  readonly code: number;
  /** The broker's own words, for example `NOT_FOUND - no queue 'q' in vhost '/'`. */
  readonly text: string;
}

/** How amqplib puts a `connection.close` or `channel.close` into the message of an error. */
const CLOSE_TEXT = /(\d+) \([^)]*\) with message "([\s\S]*)"$/;

/**
 * The broker's words out of an error of amqplib, or `undefined` when the error does not come from the broker.
 */
export function replyOf(error: unknown): Reply | undefined {
  if (!(error instanceof Error)) return undefined;
  const match = CLOSE_TEXT.exec(error.message);
  if (match === null) return undefined;
  return { code: Number(match[1]), text: match[2] ?? '' };
}

/** The refusal of `what`, for example `declare queue "q"`. */
export function refusalOf(reply: Reply, what: string, cause?: unknown): BrokerRefusedError {
  return new BrokerRefusedError(reply.code, reply.text, { what, cause });
}

/**
 * What OpenSSL says of an error: thread, `error`, code, library, function, reason, and then where in its own
 * sources it came about.
 */
const OPENSSL_TEXT = /(?:[0-9A-F]+:)?error:[0-9A-F]+:([^:\n]*):[^:\n]*:([^:\n]*)(?::[^:\n]*:\d+:[^\n]*)?/gi;

/** One line about an error. Node leaves the message of an `AggregateError` (every address refused) empty. */
export function wordsOf(error: unknown): string {
  if (error === undefined || error === null) return 'no reason given';
  if (!(error instanceof Error)) return String(error);
  const reply = replyOf(error);
  if (reply !== undefined) return `${reply.code} ${reply.text}`;
  if (error.message !== '') return lineOf(error.message);
  if (error instanceof AggregateError) return error.errors.map(wordsOf).join('; ');
  return error.name;
}

function lineOf(text: string): string {
  return text.replace(OPENSSL_TEXT, '$1: $2').replace(/\s+/g, ' ').trim();
}
