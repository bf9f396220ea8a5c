const HEADER = 7;
const FRAME_END = 206;
/**
 * First byte of a protocol header, `AMQP` and four bytes (AMQP 0-9-1, 4.2.2). No frame type has this number.
 */
const PROTOCOL_HEADER = 65;
const PROTOCOL_HEADER_LENGTH = 8;

/** Counts the AMQP frames in a stream of bytes, however it is cut into chunks. Keeps none of the bytes. */
export class FrameCounter {
  /** Whole frames that have passed. */
  frames = 0;
  readonly #header = new Uint8Array(HEADER);
  /** Bytes of the frame's header that are there. */
  #have = 0;
  /** Bytes that the frame, or the protocol header, still needs once its length is known. */
  #rest = 0;
  #counts = false;
  /** Whether the stream has turned out to be something else. */
  #lost = false;

  /**
   * Takes what passes and returns how many of its bytes it took: all, or those up to the end of frame number
   * `last`.
   */
  pass(bytes: Uint8Array, last: number): number {
    let at = 0;
    while (at < bytes.length && !this.#lost) {
      if (this.#rest === 0) {
        at = this.#begin(bytes, at);
        continue;
      }
      const step = Math.min(this.#rest, bytes.length - at);
      at += step;
      this.#rest -= step;
      if (this.#rest > 0) break;
      this.#have = 0;
      if (!this.#counts) continue;
      this.#lost = bytes[at - 1] !== FRAME_END;
      if (this.#lost) break;
      this.frames += 1;
      if (this.frames === last) return at;
    }
    return bytes.length;
  }

  /** Reads on in a header, and returns where it stopped. */
  #begin(bytes: Uint8Array, from: number): number {
    let at = from;
    while (this.#have < HEADER && at < bytes.length) {
      this.#header[this.#have] = bytes[at] as number;
      this.#have += 1;
      at += 1;
    }
    if (this.#have < HEADER) return at;
    const header = this.#header;
    this.#counts = header[0] !== PROTOCOL_HEADER;
    const size = new DataView(header.buffer).getUint32(3);
    this.#rest = this.#counts ? size + 1 : PROTOCOL_HEADER_LENGTH - HEADER;
    return at;
  }
}
