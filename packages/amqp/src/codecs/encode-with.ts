import { AceMQError, type Codec, describeError, EncodeError, shown } from '@acemq/core';

/** The payload as bytes. Whatever the codec throws, and whatever it answers that is no bytes, is an `EncodeError`. */
export function encodeWith(codec: Codec, payload: unknown): Uint8Array {
  let body: unknown;
  try {
    body = codec.encode(payload);
  } catch (error) {
    if (error instanceof AceMQError) throw error;
    throw new EncodeError(`the payload cannot be encoded as ${codec.contentType}: ${describeError(error)}`, {
      cause: error,
    });
  }
  if (body instanceof Uint8Array) return body;
  if (body instanceof Promise) body.catch(() => {});
  throw new EncodeError(
    `the codec for ${codec.contentType} must answer with a Uint8Array, and answers with ${shown(body)}`,
  );
}
