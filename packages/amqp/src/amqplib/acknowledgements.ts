import type { Message } from 'amqplib/callback_api';
import type { Settling } from './delivery.ts';
import type { LinkChannel } from './link-channel.ts';

/** As many wait at most before they are written: what a process that is killed may have to repeat although it was done. */
const MOST_WAITING = 16;

/** Milliseconds after which the next acknowledgement does not wait for company. */
const LONGEST_WAIT = 1;

/**
 * The acknowledgements of one subscription, written together where they fall into the same turn of the event loop: one frame
 * with `multiple` for all up to the first delivery that is still out, which is one frame instead of many for a consumer that
 * keeps the order of its queue. A frame by itself costs as much as to read a small message.
 *
 * A tag in a frame with `multiple` must itself be out at the broker, which takes one that is not for a fault of the channel;
 * so what is given back leaves at once, and never in such a frame.
 */
export class Acknowledgements implements Settling {
  readonly #channel: LinkChannel;
  /** Tags that are out, in the order of delivery, which is that of the tags. */
  readonly #out = new Set<number>();
  /** What is to be acknowledged. */
  #waiting: Message[] = [];
  #since = 0;
  #scheduled = false;

  constructor(channel: LinkChannel) {
    this.#channel = channel;
    channel.beforeClose = () => this.#write();
  }

  /** A delivery is out from now on. */
  delivered(message: Message): void {
    this.#out.add(message.fields.deliveryTag);
  }

  ack(message: Message): void {
    this.#out.delete(message.fields.deliveryTag);
    const waiting = this.#waiting.push(message);
    if (waiting >= MOST_WAITING) {
      this.#write();
    } else if (!this.#scheduled) {
      this.#scheduled = true;
      this.#since = performance.now();
      setImmediate(() => {
        this.#scheduled = false;
        this.#write();
      });
    } else if (performance.now() - this.#since > LONGEST_WAIT) {
      this.#write();
    }
  }

  nack(message: Message, requeue: boolean): void {
    this.#out.delete(message.fields.deliveryTag);
    this.#channel.raw.nack(message, false, requeue);
  }

  #write(): void {
    const waiting = this.#waiting;
    if (waiting.length === 0) return;
    this.#waiting = [];
    this.#since = performance.now();
    const { raw, open } = this.#channel;
    if (!open) return;
    try {
      const [first = Number.POSITIVE_INFINITY] = this.#out;
      let last: Message | undefined;
      let together = 0;
      for (const message of waiting) {
        const tag = message.fields.deliveryTag;
        if (tag > first) raw.ack(message);
        else {
          together += 1;
          if (last === undefined || tag > last.fields.deliveryTag) last = message;
        }
      }
      if (last !== undefined) raw.ack(last, together > 1);
    } catch {
      // The link is closing, and with it the channel: the broker takes the messages back.
    }
  }
}
