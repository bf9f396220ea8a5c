import { ConfigurationError, checkOptions, FatalError, isWellFormed, type Message, shown } from '@acemq/core';
import type { InboxKey } from './store.ts';

/** What makes a message the same as another. */
export interface KeyOptions<T = unknown> {
  /**
   * Whose messages are compared with each other: text of up to 255 bytes. By default the queue that the delivery came
   * from. Give several queues one scope only if a message that is in two of them is to be handled once.
   */
  readonly scope?: string | undefined;
  /**
   * What makes the message the same as another, within the scope: text of up to 255 bytes. By default the message's id.
   * Where it is empty or too long the message is dead-lettered.
   */
  readonly key?: ((message: Message<T>) => string) | undefined;
}

/** In bytes of UTF-8: what the columns hold, and what AMQP allows a queue's name and a message's id. */
const LONGEST = 255;

/** Checks the options and gives the function that reads a message's key. */
export function keyReader<T>(
  options: KeyOptions<T> | undefined,
  allowed: readonly string[],
  of: string,
): (message: Message<T>) => InboxKey {
  checkOptions(options, ['scope', 'key', ...allowed], of);
  const { scope, key } = options ?? {};
  if (scope !== undefined) {
    const fault = faultOf(scope);
    if (fault !== undefined) throw new ConfigurationError(`scope ${fault}`);
  }
  if (key !== undefined && typeof key !== 'function') {
    throw new ConfigurationError(`key must be a function of the message, not ${shown(key)}`);
  }
  return (message) => {
    const id = key === undefined ? message.envelope.id : key(message);
    const fault = faultOf(id);
    // Trying again would give the same key, and handling it without one might handle it twice.
    if (fault !== undefined) throw new FatalError(`the key of the message ${fault}`);
    return { scope: scope ?? message.queue, id };
  };
}

function faultOf(text: unknown): string | undefined {
  if (typeof text !== 'string' || text === '') return `must be text that is not empty, not ${shown(text)}`;
  if (text.includes('\0')) return 'must not have a zero byte in it';
  // Written, two such keys might become one, and a message be taken for a repeat.
  if (!isWellFormed(text)) return `must be well-formed, and has half of a surrogate pair: ${shown(text)}`;
  const bytes = Buffer.byteLength(text);
  return bytes > LONGEST ? `takes ${bytes} bytes; allowed: up to ${LONGEST} bytes of UTF-8` : undefined;
}
