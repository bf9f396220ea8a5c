import type { Codec, Message } from '@acemq/core';

/**
 * Writes a message as it came: the same bytes under the same content type. Where an interceptor has put another payload
 * in the place of the message's, that one is encoded by `codec`.
 */
export class CarriedBody implements Codec {
  readonly #message: Message;
  readonly #codec: Codec;
  #contentType: string;

  constructor(message: Message, codec: Codec) {
    this.#message = message;
    this.#codec = codec;
    this.#contentType = message.contentType ?? '';
  }

  /** Of what was encoded last. */
  get contentType(): string {
    return this.#contentType;
  }

  encode(payload: unknown): Uint8Array {
    const { body, payload: came, contentType } = this.#message;
    const isSame = Object.is(payload, came);
    const bytes = isSame ? body : this.#codec.encode(payload);
    this.#contentType = isSame ? (contentType ?? '') : this.#codec.contentType;
    return bytes;
  }

  decode(body: Uint8Array, contentType: string | undefined): unknown {
    return this.#codec.decode(body, contentType);
  }

  canDecode(contentType: string | undefined): boolean {
    return this.#codec.canDecode(contentType);
  }
}
