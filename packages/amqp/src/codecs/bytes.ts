import { type Codec, EncodeError } from '@acemq/core';

/**
 * Bytes as they are. Writes `application/octet-stream`; reads everything, whatever it is called, so that it
 * is what a tool reads a dead-letter queue with.
 */
export function bytesCodec(): Codec<Uint8Array> {
  return BYTES_CODEC;
}

const BYTES_CODEC: Codec<Uint8Array> = Object.freeze({
  contentType: 'application/octet-stream',
  encode(payload: Uint8Array): Uint8Array {
    if (!(payload instanceof Uint8Array)) {
      throw new EncodeError(
        `the bytes codec writes Uint8Array, and the payload is ${payload === null ? 'null' : `a ${typeof payload}`}`,
      );
    }
    return payload;
  },
  decode(body: Uint8Array): Uint8Array {
    return body;
  },
  canDecode(): boolean {
    return true;
  },
});
