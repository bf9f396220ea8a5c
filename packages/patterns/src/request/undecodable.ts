import { AceMQError, type Codec, DecodeError, describeError } from '@acemq/core';

/** Stands for the payload of a body that could not be decoded. */
export class Undecodable {
  readonly error: Error;

  constructor(error: Error) {
    this.error = error;
  }
}

/**
 * The same codec, except that a body it cannot read is an {@link Undecodable}: a consumer would park the message, in a
 * queue that a reply queue does not have, while somebody waits for the reply.
 */
export function tolerant(codec: Codec): Codec {
  return {
    contentType: codec.contentType,
    encode: (payload) => codec.encode(payload),
    canDecode: (contentType) => codec.canDecode(contentType),
    decode(body, contentType): unknown {
      try {
        const payload = codec.decode(body, contentType);
        if (!(payload instanceof Promise)) return payload;
        payload.catch(() => {});
        throw new DecodeError(
          `the codec for ${codec.contentType} answers with a promise; decode must answer at once`,
        );
      } catch (error) {
        return new Undecodable(error instanceof AceMQError ? error : undecodable(codec, error));
      }
    },
  };
}

function undecodable({ contentType }: Codec, error: unknown): DecodeError {
  return new DecodeError(`the reply cannot be decoded as ${contentType}: ${describeError(error)}`, {
    cause: error,
  });
}
