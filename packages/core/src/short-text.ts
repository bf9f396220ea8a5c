import { EncodeError } from './errors.ts';
import { byteLength, LONGEST_NAME } from './naming.ts';
import { shown } from './shown.ts';

/**
 * Refuses what does not fit where AMQP has one byte for the length of a text: a name, a key, a tag, a
 * property of a message. Throws `EncodeError`; the text itself is not repeated.
 */
export function checkShortText(what: string, value: unknown): void {
  if (typeof value !== 'string') {
    throw new EncodeError(
      `${what} is ${shown(value)}; allowed: text of up to ${LONGEST_NAME} bytes of UTF-8`,
    );
  }
  const bytes = byteLength(value);
  if (bytes <= LONGEST_NAME) return;
  throw new EncodeError(`${what} takes ${bytes} bytes; allowed: up to ${LONGEST_NAME} bytes of UTF-8`);
}
