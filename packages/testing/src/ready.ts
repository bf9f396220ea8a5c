import { Fifo } from './fifo.ts';
import { Heap } from './heap.ts';
import type { HeldMessage } from './message.ts';

/** A message in one queue. */
export interface Entry {
  readonly message: HeldMessage;
  /** Its place in the order of arrival. */
  readonly order: number;
  /** Milliseconds since the epoch; `undefined` when it does not expire. */
  readonly expiresAt: number | undefined;
  /** How often it was delivered and came back. */
  returns: number;
}

/** How a delivered message came back: its consumer gave it back, or the consumer's channel went. */
export type ReturnedBy = 'consumer' | 'channel';

/** The messages of a queue that wait for delivery, in the order in which they go. */
export abstract class Ready {
  readonly #arrived = new Fifo<Entry>();
  #size = 0;
  #bytes = 0;

  /** How many wait. */
  get size(): number {
    return this.#size;
  }

  /** Bytes of their bodies. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The one that goes next. */
  peek(): Entry | undefined {
    return this.peekReturned() ?? this.#arrived.peek();
  }

  append(entry: Entry): void {
    this.#count(entry);
    this.#arrived.push(entry);
  }

  take(): Entry | undefined {
    const entry = this.takeReturned() ?? this.#arrived.shift();
    if (entry === undefined) return undefined;
    this.#size -= 1;
    this.#bytes -= entry.message.body.length;
    return entry;
  }

  /** Puts a message back that was delivered. */
  giveBack(entry: Entry, by: ReturnedBy): void {
    this.#count(entry);
    if (!this.putBack(entry, by)) this.#arrived.push(entry);
  }

  toArray(): Entry[] {
    return [...this.returned(), ...this.#arrived.toArray()];
  }

  #count(entry: Entry): void {
    this.#size += 1;
    this.#bytes += entry.message.body.length;
  }

  protected abstract peekReturned(): Entry | undefined;
  protected abstract takeReturned(): Entry | undefined;
  /** Returns false to have it put at the end. */
  protected abstract putBack(entry: Entry, by: ReturnedBy): boolean;
  protected abstract returned(): Entry[];
}

/** A classic queue puts a message back where it was. */
export class ClassicReady extends Ready {
  // Whatever comes back was delivered, so that it is older than everything that was not.
  readonly #returned = new Heap<Entry>((a, b) => a.order < b.order);

  protected peekReturned(): Entry | undefined {
    return this.#returned.peek();
  }

  protected takeReturned(): Entry | undefined {
    return this.#returned.pop();
  }

  protected putBack(entry: Entry): boolean {
    this.#returned.push(entry);
    return true;
  }

  protected returned(): Entry[] {
    return this.#returned.sorted();
  }
}

/**
 * A quorum queue keeps what came back in front, in the order in which it came back. What a consumer gave back
 * goes to the end instead when the queue has no delivery limit: so does RabbitMQ since 3.10, whose log could
 * otherwise never be cut.
 */
export class QuorumReady extends Ready {
  readonly #returned = new Fifo<Entry>();
  readonly #limited: boolean;

  constructor(limited: boolean) {
    super();
    this.#limited = limited;
  }

  protected peekReturned(): Entry | undefined {
    return this.#returned.peek();
  }

  protected takeReturned(): Entry | undefined {
    return this.#returned.shift();
  }

  protected putBack(entry: Entry, by: ReturnedBy): boolean {
    if (by === 'consumer' && !this.#limited) return false;
    this.#returned.push(entry);
    return true;
  }

  protected returned(): Entry[] {
    return this.#returned.toArray();
  }
}
