import { type Duration, milliseconds, renderDelay } from './duration.ts';
import { ConfigurationError } from './errors.ts';
import { shown } from './shown.ts';

/**
 * The exchange through which a message comes home from a rung: direct, durable. Part of every rung's
 * arguments.
 */
export const RETRY_EXCHANGE = 'acemq.retry';

/** The exchange that dead-letter and parked queues are bound to, on their own names: direct, durable. */
export const DEAD_LETTER_EXCHANGE = 'acemq.dlx';

/** What a client is called when its owner gives it no name. */
export const DEFAULT_CLIENT_NAME = 'acemq';

/** The longest name AMQP can carry, in bytes of UTF-8 (0-9-1, short strings). */
export const LONGEST_NAME = 255;

/** The queue in which messages end that nothing will try again. */
export function deadLetterQueueName(queue: string): string {
  return derived(queue, '.dlq');
}

/** The queue in which messages wait for somebody to look at them. */
export function parkedQueueName(queue: string): string {
  return derived(queue, '.parked');
}

/**
 * The rung of a queue for one delay, for example `orders.new.retry.40s`.
 *
 * @throws `ConfigurationError` for a blank queue, a delay that is no {@link Duration}, or a name that would
 * pass 255 bytes.
 */
export function retryQueueName(queue: string, delay: Duration): string {
  return derived(queue, `.retry.${renderDelay(milliseconds(delay, 'delay'))}`);
}

/**
 * Where a message says that it comes from, unless its publisher says otherwise: `shipping@app-7`.
 *
 * @param clientName - The name of the client; `acemq` when it is empty.
 * @param hostname - The machine's name; `unknown-host` without one.
 */
export function defaultOrigin(clientName: string, hostname?: string): string {
  const host = hostname === undefined || hostname === '' ? 'unknown-host' : hostname;
  return `${clientName === '' ? DEFAULT_CLIENT_NAME : clientName}@${host}`;
}

/**
 * Returns a name that AMQP can carry as it was given.
 *
 * @param what - What it names, for the error: `exchange`, `consumer tag` …
 * @throws `ConfigurationError` for anything but text, for blank text (a broker takes an empty name for a wish
 * to make one up) and for more than 255 bytes of UTF-8.
 */
export function checkName(name: unknown, what: string): string {
  if (typeof name !== 'string') {
    throw new ConfigurationError(`the ${what} name must be text, not ${shown(name)}`);
  }
  if (name.trim() === '') {
    throw new ConfigurationError(`the ${what} name must not be blank, as is ${shown(name)}`);
  }
  const bytes = byteLength(name);
  if (bytes > LONGEST_NAME) {
    throw new ConfigurationError(
      `the ${what} name ${JSON.stringify(name)} is ${bytes} bytes long; AMQP carries names of at most ${LONGEST_NAME}`,
    );
  }
  return name;
}

/** {@link checkName} for the name of a queue. */
export function checkQueueName(name: unknown, what = 'queue'): string {
  return checkName(name, what);
}

/** A routing key may be empty, and is otherwise bound by the same 255 bytes. */
export function checkRoutingKey(routingKey: unknown): string {
  if (typeof routingKey !== 'string') {
    throw new ConfigurationError(`the routing key must be text, not ${shown(routingKey)}`);
  }
  const bytes = byteLength(routingKey);
  if (bytes > LONGEST_NAME) {
    throw new ConfigurationError(
      `the routing key ${JSON.stringify(routingKey)} is ${bytes} bytes long; AMQP carries keys of at most ${LONGEST_NAME}`,
    );
  }
  return routingKey;
}

function derived(queue: string, suffix: string): string {
  const name = checkQueueName(queue) + suffix;
  const bytes = byteLength(name);
  if (bytes > LONGEST_NAME) {
    throw new ConfigurationError(
      `the queue name ${JSON.stringify(queue)} is too long: ${JSON.stringify(name)} would be ${bytes} bytes, and AMQP ` +
        `carries names of at most ${LONGEST_NAME}`,
    );
  }
  return name;
}

/** Whether a text fits where AMQP has one byte for its length: a name, a message id, a content type. */
export function isShortText(text: string): boolean {
  return byteLength(text) <= LONGEST_NAME;
}

const HALF_OF_A_PAIR = /\p{Surrogate}/u;

/** Whether UTF-8 can say it: half of a surrogate pair is written as something else, so that two such texts may become one. */
export function isWellFormed(text: string): boolean {
  return !HALF_OF_A_PAIR.test(text);
}

const encoder = new TextEncoder();

/** In UTF-8. Exact where the text is longer than a name may be, and not below that, where nobody asks. */
export function byteLength(text: string): number {
  return text.length * 3 <= LONGEST_NAME ? text.length : encoder.encode(text).length;
}
