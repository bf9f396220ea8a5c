import { isUtf8 } from 'node:buffer';
import { type Codec, DecodeError, EncodeError } from '@acemq/core';
import { viewOf } from './view.ts';

const JSON_TYPE = /^\s*(?:application|text)\/json\b|\+json\b/i;

/**
 * JSON, and the default. Writes `application/json`; reads `application/json`, `text/json`, anything `+json`,
 * and a body whose sender said nothing.
 *
 * Refuses to write what JSON has no word for, instead of writing something else: `undefined`, a function, a
 * symbol, a `bigint`, bytes, and a structure that contains itself. Refuses to read a body that is not UTF-8.
 */
export function jsonCodec(): Codec {
  return JSON_CODEC;
}

const JSON_CODEC: Codec = Object.freeze({
  contentType: 'application/json',
  encode(payload: unknown): Uint8Array {
    if (payload instanceof Uint8Array) {
      throw new EncodeError(
        'bytes cannot be written as JSON; give the publisher the bytes codec: bytesCodec()',
      );
    }
    let text: string | undefined;
    try {
      text = JSON.stringify(payload);
    } catch (error) {
      throw new EncodeError(`the payload cannot be written as JSON: ${(error as Error).message}`, {
        cause: error,
      });
    }
    if (text === undefined) {
      throw new EncodeError(`the payload cannot be written as JSON: it is ${describe(payload)}`);
    }
    return Buffer.from(text);
  },
  decode(body: Uint8Array): unknown {
    if (!isUtf8(body)) throw new DecodeError('the body is not UTF-8, so it is not JSON');
    const bytes = viewOf(body);
    // A byte order mark is not part of JSON, and other languages' writers leave one.
    const text = bytes[0] === 0xef ? bytes.toString('utf8').replace(/^\uFEFF/, '') : bytes.toString('utf8');
    try {
      return JSON.parse(text);
    } catch (error) {
      throw new DecodeError(`the body is not JSON: ${(error as Error).message}`, { cause: error });
    }
  },
  canDecode(contentType: string | undefined): boolean {
    return contentType === undefined || contentType === '' || JSON_TYPE.test(contentType);
  },
});

function describe(payload: unknown): string {
  return payload === undefined ? 'undefined' : `a ${typeof payload}`;
}
