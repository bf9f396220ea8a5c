/** Turns a payload into bytes and back. */
export interface Codec<T = unknown> {
  /** What it writes as the message's content type. */
  readonly contentType: string;
  /** Throws `EncodeError` for a payload that it cannot write. */
  encode(payload: T): Uint8Array;
  /** Throws `DecodeError` for a body that it cannot read. */
  decode(body: Uint8Array, contentType: string | undefined): T;
  /**
   * Whether it reads bodies of this content type. `undefined` means that the sender said nothing, which is
   * not the same as an empty string.
   */
  canDecode(contentType: string | undefined): boolean;
}
