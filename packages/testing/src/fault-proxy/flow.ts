import type { Socket } from 'node:net';
import type { Clock, Timer } from '@acemq/core';
import type { CutOptions } from './controls.ts';
import { FrameCounter } from './frame-counter.ts';

/** Where to cut, and how. */
export interface CutPoint {
  readonly at: number;
  readonly cut: CutOptions;
}

/** What is done to one direction. */
export interface FlowSettings {
  readonly frozen: boolean;
  /** Milliseconds. */
  readonly delay: number;
  /** Bytes a second. */
  readonly limit: number | undefined;
  readonly cutAtByte: CutPoint | undefined;
  readonly cutAfterFrame: CutPoint | undefined;
}

export const UNDISTURBED: FlowSettings = Object.freeze({
  frozen: false,
  delay: 0,
  limit: undefined,
  cutAtByte: undefined,
  cutAfterFrame: undefined,
});

/** Past this much in the queue of a direction its source is read no further. */
const MOST_QUEUED = 1_048_576;
/** The share of a second's bytes that a limited direction may pass at once. */
const BURST = 0.1;

type Ending = 'fin' | 'rst';

/** Bytes, or the end of the stream, that wait for their turn. */
interface Piece {
  bytes: Buffer | undefined;
  readonly ending: Ending | undefined;
  readonly due: number;
}

/** One direction of a connection: reads a source, and writes a sink when the settings let it. */
export class Flow {
  bytes = 0;
  readonly #source: Socket;
  readonly #sink: Socket;
  readonly #clock: Clock;
  readonly #counter: FrameCounter | undefined;
  readonly #cut: (options: CutOptions) => void;
  readonly #queue: Piece[] = [];
  readonly #wake = (): void => {
    this.#timer = undefined;
    this.#pump();
  };
  #settings: FlowSettings = UNDISTURBED;
  #queued = 0;
  #timer: Timer | undefined;
  #full = false;
  #over = false;
  /** What may be passed under a limit, in bytes, as of `#creditAt`. */
  #credit = 0;
  #creditAt = 0;

  constructor(
    source: Socket,
    sink: Socket,
    clock: Clock,
    framed: boolean,
    cut: (options: CutOptions) => void,
  ) {
    this.#source = source;
    this.#sink = sink;
    this.#clock = clock;
    this.#counter = framed ? new FrameCounter() : undefined;
    this.#cut = cut;
    sink.on('drain', () => {
      this.#full = false;
      this.#pump();
    });
  }

  get frames(): number {
    return this.#counter?.frames ?? 0;
  }

  get settings(): FlowSettings {
    return this.#settings;
  }

  set settings(settings: FlowSettings) {
    if (settings.limit !== this.#settings.limit) {
      this.#credit = 0;
      this.#creditAt = this.#clock.elapsed();
    }
    this.#settings = settings;
    this.#pump();
  }

  arrive(bytes: Buffer): void {
    if (this.#over) return;
    this.#queue.push({ bytes, ending: undefined, due: this.#due() });
    this.#queued += bytes.length;
    this.#pump();
  }

  /** The source has ended: nothing more comes from it. */
  end(ending: Ending): void {
    if (this.#over) {
      this.#source.end();
      return;
    }
    this.#queue.push({ bytes: undefined, ending, due: this.#due() });
    this.#pump();
  }

  /** Passes nothing on any more. The source is read on, so that its end is noticed. */
  stop(): void {
    this.#over = true;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#queue.length = 0;
    this.#queued = 0;
    this.#source.resume();
  }

  #due(): number {
    return this.#settings.delay === 0 ? 0 : this.#clock.elapsed() + this.#settings.delay;
  }

  #pump(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#over) return;
    if (this.#cutIfPast()) return;
    let piece = this.#queue[0];
    while (piece !== undefined && !this.#settings.frozen && !this.#full) {
      const wait = piece.due === 0 ? 0 : piece.due - this.#clock.elapsed();
      if (wait > 0) {
        this.#timer = this.#clock.after(wait, this.#wake);
        break;
      }
      if (piece.ending !== undefined) {
        this.#finish(piece.ending);
        return;
      }
      if (!this.#pass(piece)) break;
      if (this.#over) return;
      piece = this.#queue[0];
    }
    const reads = !this.#settings.frozen && !this.#full && this.#queued < MOST_QUEUED;
    if (reads === this.#source.isPaused()) {
      if (reads) this.#source.resume();
      else this.#source.pause();
    }
  }

  #finish(ending: Ending): void {
    this.stop();
    if (ending === 'rst') reset(this.#sink);
    else this.#sink.end();
  }

  /** Writes as much of the piece as may pass now. False when it has to wait. */
  #pass(piece: Piece): boolean {
    let bytes = piece.bytes as Buffer;
    const { limit, cutAtByte, cutAfterFrame } = this.#settings;
    if (limit !== undefined) {
      const credit = this.#creditFor(bytes.length, limit);
      if (credit === 0) return false;
      bytes = bytes.subarray(0, credit);
    }
    if (!this.#sink.writable) {
      this.stop();
      return false;
    }
    if (cutAtByte !== undefined) bytes = bytes.subarray(0, cutAtByte.at - this.bytes);
    if (this.#counter !== undefined) {
      bytes = bytes.subarray(0, this.#counter.pass(bytes, cutAfterFrame?.at ?? 0));
    }
    this.bytes += bytes.length;
    this.#credit -= bytes.length;
    this.#take(piece, bytes.length);
    const cut = this.#reached();
    if (cut === undefined) this.#full = !this.#sink.write(bytes);
    else {
      this.stop();
      // A reset drops what the system has not been given yet.
      this.#sink.write(bytes, () => this.#cut(cut));
    }
    return true;
  }

  #take(piece: Piece, length: number): void {
    this.#queued -= length;
    if (piece.bytes?.length === length) this.#queue.shift();
    else piece.bytes = piece.bytes?.subarray(length);
  }

  /** How many of `wanted` bytes the limit lets pass now. Sets the timer when there are none. */
  #creditFor(wanted: number, limit: number): number {
    const most = Math.max(1, limit * BURST);
    const now = this.#clock.elapsed();
    this.#credit = Math.min(most, this.#credit + ((now - this.#creditAt) / 1000) * limit);
    this.#creditAt = now;
    const credit = Math.min(wanted, Math.floor(this.#credit));
    if (credit > 0) return credit;
    const missing = Math.min(wanted, Math.max(1, Math.floor(most / 2))) - this.#credit;
    this.#timer = this.#clock.after(Math.ceil((missing / limit) * 1000), this.#wake);
    return 0;
  }

  #reached(): CutOptions | undefined {
    const { cutAtByte, cutAfterFrame } = this.#settings;
    if (cutAtByte !== undefined && this.bytes >= cutAtByte.at) return cutAtByte.cut;
    if (cutAfterFrame !== undefined && this.frames >= cutAfterFrame.at) return cutAfterFrame.cut;
    return undefined;
  }

  /** A cut that was asked for when its point had passed. */
  #cutIfPast(): boolean {
    const cut = this.#reached();
    if (cut !== undefined) this.#cut(cut);
    return cut !== undefined;
  }
}

/** Resets a socket, which sends RST. One that is not connected yet has nobody to tell. */
export function reset(socket: Socket): void {
  if (socket.connecting) socket.destroy();
  else if (socket.destroyed) return;
  else if (isShuttingDown(socket)) socket.once('finish', () => socket.resetAndDestroy());
  else socket.resetAndDestroy();
}

/**
 * Whether its end is being written at this moment. The system refuses to reset it then, and a socket of Node that was
 * refused that never closes.
 */
function isShuttingDown(socket: Socket): boolean {
  return socket.writableEnded && !socket.writableFinished && socket.writableLength === 0;
}
