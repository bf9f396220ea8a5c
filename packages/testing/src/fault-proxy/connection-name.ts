/** The field `connection_name`, a long string (`S`), as it stands in the table of `connection.start-ok`. */
const FIELD = Buffer.from('\x0fconnection_nameS', 'latin1');
const PROTOCOL_HEADER_LENGTH = 8;
const FRAME_HEADER_LENGTH = 7;
/** No client says more about itself than this before it is let in. */
const LONGEST_HELLO = 65_536;

/** Listens to what a client says first, until it has given its name or clearly will not. */
export class NameReader {
  #heard: Buffer = Buffer.alloc(0);
  #done = false;

  /** Takes what the client sent, and returns the name when it is complete, once. */
  hear(bytes: Buffer): string | undefined {
    if (this.#done) return undefined;
    this.#heard = Buffer.concat([this.#heard, bytes]);
    const length = PROTOCOL_HEADER_LENGTH + FRAME_HEADER_LENGTH;
    if (this.#heard.length < length) return undefined;
    const whole = length + this.#heard.readUInt32BE(length - 4);
    if (this.#heard.length < whole && this.#heard.length < LONGEST_HELLO) return undefined;
    const name = nameIn(this.#heard.subarray(0, whole));
    this.#done = true;
    this.#heard = Buffer.alloc(0);
    return name;
  }
}

function nameIn(hello: Buffer): string | undefined {
  const at = hello.indexOf(FIELD);
  const text = at + FIELD.length + 4;
  if (at < 0 || hello.length < text) return undefined;
  return hello.toString('utf8', text, text + hello.readUInt32BE(text - 4));
}
