import { createReadStream } from 'node:fs';
import { addAbortSignal, type Readable } from 'node:stream';

/** The orders cannot be read. The message is for the person who started the program. */
class InputError extends Error {}

/** Lines to be published, and what they come from. */
export interface OrderLines {
  readonly name: string;
  /** The bytes of each line that is not blank, without its line end. To be read once. */
  readonly lines: AsyncIterable<Uint8Array>;
  /** Lets go of the input: a pipe that stays open would keep the process. */
  close(): void;
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BYTE_ORDER_MARK: readonly number[] = [0xef, 0xbb, 0xbf];

/**
 * Opens a file of orders, one a line, or standard input for `-`. Resolves when the first line is there, and rejects with
 * {@link InputError} when there is none, so that nothing is begun over an input that cannot be read. Reads as it is
 * asked to: a file of any size, and a pipe that has not ended.
 *
 * @param signal - Ends the lines.
 */
export async function openOrders(source: string, stdin: Readable, signal: AbortSignal): Promise<OrderLines> {
  const name = source === '-' ? 'standard input' : source;
  const stream = source === '-' ? stdin : createReadStream(source);
  const lines = splitLines(untilAborted(addAbortSignal(signal, stream), name, signal));
  const first = await lines.next();
  if (first.done === true && !signal.aborted) throw new InputError(`${name} holds no orders`);
  return { name, lines: resumed(first, lines), close: () => void stream.destroy() };
}

/** Splits bytes into lines. Not with `readline`, which makes text of them and so changes what is not UTF-8. */
export async function* splitLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  let pieces: Uint8Array[] = [];
  let atStart = true;
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
      pieces.push(chunk.subarray(from, end));
      const line = lineOf(pieces, atStart);
      if (line !== undefined) yield line;
      atStart = false;
      pieces = [];
      from = end + 1;
    }
    pieces.push(chunk.subarray(from));
  }
  const last = lineOf(pieces, atStart);
  if (last !== undefined) yield last;
}

function lineOf(pieces: readonly Uint8Array[], atStart: boolean): Uint8Array | undefined {
  let line: Uint8Array = pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
  if (atStart && BYTE_ORDER_MARK.every((byte, index) => line[index] === byte)) line = line.subarray(3);
  if (line.at(-1) === CARRIAGE_RETURN) line = line.subarray(0, -1);
  return line.some((byte) => byte > 0x20) ? line : undefined;
}

async function* untilAborted(
  stream: Readable,
  name: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  try {
    for await (const chunk of stream) yield chunk as Uint8Array;
  } catch (error) {
    if (!signal.aborted) throw new InputError(`${name} cannot be read: ${why(error)}`, { cause: error });
  }
}

async function* resumed(
  first: IteratorResult<Uint8Array, void>,
  rest: AsyncGenerator<Uint8Array, void>,
): AsyncGenerator<Uint8Array, void> {
  if (first.done === true) return;
  yield first.value;
  yield* rest;
}

function why(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'EISDIR') return 'it is a folder';
  if (code === 'EACCES') return 'it is not permitted';
  return message;
}
