import type { Destination, OwedRecord } from './store.ts';

/**
 * What a relay knows of one destination whose records it holds or lets rest. Its records leave in sequence order, up to a
 * window of them outstanding.
 */
export class Outgoing implements Destination {
  readonly exchange: string;
  readonly routingKey: string;
  readonly hash: number;
  /** In sequence order. */
  readonly #queue: OwedRecord[] = [];
  #head = 0;
  /** How many are out, unanswered. */
  out = 0;
  /** Records were cut off and are to go again, which must wait until nothing is out. */
  draining = false;
  /** How many rests in a row; 0 since it was last reached. */
  refusals = 0;
  /** When its rest ends, in the clock's elapsed milliseconds. */
  restUntil = 0;
  /** One record at a time, until one of them is taken. */
  probing = false;
  /** Refusals that are not written down yet; until then a record read again would not know of them. */
  unwritten = 0;
  /** Its records close the channel for others, as far as is known: nothing else of its exchange goes with them. */
  alone = false;
  /**
   * Its records from behind this number are to be read for it alone, since the relay's scan has passed them by;
   * `undefined` while the scan brings them.
   */
  readFrom: number | undefined;

  constructor(destination: Destination, hash: number) {
    this.exchange = destination.exchange;
    this.routingKey = destination.routingKey;
    this.hash = hash;
  }

  get waiting(): number {
    return this.#queue.length - this.#head;
  }

  /** The next that would leave. */
  get next(): OwedRecord | undefined {
    return this.#queue[this.#head];
  }

  /** Whether nothing would be lost by forgetting it. */
  get isIdle(): boolean {
    return (
      this.waiting === 0 &&
      this.out === 0 &&
      this.unwritten === 0 &&
      this.refusals === 0 &&
      !this.alone &&
      this.readFrom === undefined
    );
  }

  /** Puts a record where it belongs: nearly always last. */
  add(record: OwedRecord): void {
    let at = this.#queue.length;
    while (at > this.#head && (this.#queue[at - 1] as OwedRecord).seq > record.seq) at -= 1;
    if (at === this.#queue.length) this.#queue.push(record);
    else this.#queue.splice(at, 0, record);
  }

  take(): OwedRecord | undefined {
    const record = this.#queue[this.#head];
    if (record === undefined) return undefined;
    this.#head += 1;
    if (this.#head === this.#queue.length || this.#head >= 1024) {
      this.#queue.splice(0, this.#head);
      this.#head = 0;
    }
    return record;
  }

  /** Forgets what waits, and gives it back. */
  drop(): OwedRecord[] {
    const dropped = this.#queue.slice(this.#head);
    this.#queue.length = 0;
    this.#head = 0;
    return dropped;
  }

  /** Whether a record may leave as far as this destination is concerned. */
  mayLeave(now: number, window: number): boolean {
    if (this.waiting === 0 || this.draining || now < this.restUntil) return false;
    return this.out < (this.probing || this.alone ? 1 : window);
  }
}
