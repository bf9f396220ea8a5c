import { isUtf8 } from 'node:buffer';
import { type Codec, DecodeError, EncodeError } from '@acemq/core';
import { viewOf } from './view.ts';

/**
 * Text. Writes `text/plain; charset=utf-8`; reads `text/*`. Takes strings only, since the string form of an
 * arbitrary object is not what anybody meant to send, and reads nothing but UTF-8.
 */
export function textCodec(): Codec<string> {
  return TEXT_CODEC;
}

const TEXT_CODEC: Codec<string> = Object.freeze({
  contentType: 'text/plain; charset=utf-8',
  encode(payload: string): Uint8Array {
    if (typeof payload !== 'string') {
      throw new EncodeError(
        `the text codec writes strings, and the payload is ${payload === null ? 'null' : `a ${typeof payload}`}`,
      );
    }
    return Buffer.from(payload);
  },
  decode(body: Uint8Array): string {
    if (!isUtf8(body)) throw new DecodeError('the body is not UTF-8 text');
    return viewOf(body).toString('utf8');
  },
  canDecode(contentType: string | undefined): boolean {
    return contentType !== undefined && /^\s*text\//i.test(contentType);
  },
});
