import { EncodeError } from './errors.ts';
import { checkShortText } from './short-text.ts';
import { shown } from './shown.ts';
import type { Outbound } from './transport.ts';

/** AMQP has one byte for it. */
const HIGHEST_PRIORITY = 255;

/** AMQP has eight bytes for the seconds of a timestamp. */
const TIMESTAMP_END = 2 ** 64;

const DIGITS = /^\d+$/;

/**
 * Refuses a message with a body, a key or a property that AMQP has no form for, by its name. Throws
 * `EncodeError`. The headers are not looked at.
 *
 * An expiration must be a number, although AMQP has text for it: the broker closes the channel over any other
 * text, and with it everything that is outstanding there.
 */
export function checkMessage(exchange: string, routingKey: string, message: Outbound): void {
  const { body, contentType, messageId, replyTo, expiration, priority, timestamp } = message;
  checkShortText('the name of the exchange', exchange);
  checkShortText('the routing key', routingKey);
  if (!(body instanceof Uint8Array)) {
    throw new EncodeError(`body is ${nameOf(body)}; allowed: a Uint8Array`);
  }
  checkShortText('messageId', messageId);
  if (contentType !== undefined) checkShortText('contentType', contentType);
  if (replyTo !== undefined) checkShortText('replyTo', replyTo);
  if (expiration !== undefined) checkExpiration(expiration);
  if (priority !== undefined && !isWhole(priority, HIGHEST_PRIORITY + 1)) {
    throw new EncodeError(
      `priority is ${shown(priority)}; allowed: a whole number from 0 to ${HIGHEST_PRIORITY}`,
    );
  }
  if (timestamp !== undefined && !isWhole(timestamp, TIMESTAMP_END)) {
    throw new EncodeError(
      `timestamp is ${shown(timestamp)}; allowed: a whole number of seconds since the epoch, 0 or more`,
    );
  }
}

function checkExpiration(expiration: string): void {
  checkShortText('expiration', expiration);
  if (DIGITS.test(expiration)) return;
  throw new EncodeError(
    `expiration is ${shown(expiration)}; allowed: milliseconds as text, a whole number of 0 or more such as "60000"`,
  );
}

/** What a body is instead: text may be the payload itself, and is not repeated. */
function nameOf(body: unknown): string {
  return typeof body === 'string' ? 'text' : shown(body);
}

function isWhole(value: unknown, end: number): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) < end;
}
