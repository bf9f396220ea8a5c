import type { Connection, Consumer } from '@acemq/amqp';
import {
  accept,
  type Codec,
  ConnectionClosedError,
  ConnectionLostError,
  type Message,
  none,
  randomId,
  type TopologyPlan,
  topology,
} from '@acemq/core';
import { tolerant } from './undecodable.ts';

/** Replies are acknowledged as soon as they come, so that this many are on their way to one requester at once. */
const PREFETCH = 1000;

/** Milliseconds between two attempts to read a reply queue again that the broker refuses; they double. */
const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 5000;

/** What a {@link ReplyQueue} is opened with. */
export interface ReplyQueueParts {
  /** A name that somebody chose; undefined for a queue of its own. */
  readonly named: string | undefined;
  /** Whether a named one is declared. */
  readonly declare: boolean;
  readonly codec: Codec;
  received(message: Message<unknown>): void;
}

/** A name that no other requester has. */
export function generatedReplyQueue(): string {
  return `acemq-reply-${randomId().replaceAll('-', '')}`;
}

/** The declaration of a reply queue: of a queue of one's own, or of one that has been named. */
export function replyQueuePlan(name: string, generated: boolean): TopologyPlan {
  return topology()
    .queue(name, generated ? { type: 'classic', durable: false, autoDelete: true, exclusive: true } : {})
    .plan();
}

/** The queue that the replies to one requester come to, and the subscription that reads it. */
export class ReplyQueue {
  /** The reply address. */
  readonly name: string;
  readonly #mq: Connection;
  readonly #parts: ReplyQueueParts;
  readonly #generated: boolean;
  readonly #plan: TopologyPlan | undefined;
  #consumer: Consumer | undefined;
  #receiving: Promise<void> | undefined;
  /** Ends a rest. */
  #wake: (() => void) | undefined;
  #closed = false;

  private constructor(mq: Connection, parts: ReplyQueueParts) {
    this.#mq = mq;
    this.#parts = parts;
    this.#generated = parts.named === undefined;
    this.name = parts.named ?? generatedReplyQueue();
    this.#plan = parts.declare ? replyQueuePlan(this.name, this.#generated) : undefined;
  }

  /** Declares it and subscribes. Rejects as `mq.declare` and `mq.consume` do. */
  static async open(mq: Connection, parts: ReplyQueueParts): Promise<ReplyQueue> {
    const queue = new ReplyQueue(mq, parts);
    if (queue.#plan !== undefined) await mq.declare(queue.#plan);
    try {
      queue.#consumer = await queue.#subscribe();
    } catch (error) {
      if (queue.#generated) void queue.#delete(false);
      throw error;
    }
    return queue;
  }

  /** Whether replies come in at present. */
  get receiving(): boolean {
    return this.#consumer?.running === true;
  }

  /** Why none do, as far as is known. */
  get stalled(): string | undefined {
    return this.#consumer?.stalled;
  }

  /**
   * Resolves as soon as replies come in, however long that takes: a request whose reply would have nowhere to go need not
   * be sent. Rejects when the connection or this queue is closed.
   */
  untilReceiving(): Promise<void> {
    this.#receiving ??= this.#receiveAgain().finally(() => {
      this.#receiving = undefined;
    });
    return this.#receiving;
  }

  /** Ends the subscription, and deletes the queue if it was one of its own. Never rejects. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#wake?.();
    const { receiving } = this;
    await this.#consumer?.close();
    if (this.#generated) await this.#delete(receiving);
  }

  #subscribe(): Promise<Consumer> {
    const { codec, received } = this.#parts;
    return this.#mq.consume<unknown>(
      this.name,
      (message) => {
        received(message);
        return accept();
      },
      {
        codec: tolerant(codec),
        retry: none(),
        declare: false,
        closesLast: true,
        prefetch: PREFETCH,
        concurrency: PREFETCH,
      },
    );
  }

  async #receiveAgain(): Promise<void> {
    for (let pause = FIRST_PAUSE; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
      try {
        await this.#readAgain();
        if (!this.#closed) return;
      } catch (error) {
        if (error instanceof ConnectionClosedError) throw error;
      }
      if (!this.#closed) await this.#rest(pause);
      if (this.#closed) {
        // What was declared and subscribed while it was being closed.
        await this.#consumer?.close();
        if (this.#generated) void this.#delete(false);
        throw new ConnectionClosedError('the requester has been closed');
      }
    }
  }

  /**
   * A lost link is restored with its queue and its consumer, and this only waits for it. A queue that was deleted is
   * declared again here, and read by a new consumer, since the old one would take its time.
   */
  async #readAgain(): Promise<void> {
    if (this.#plan === undefined) await this.#mq.queueExists(this.name);
    else await this.#mq.declare(this.#plan);
    if (this.#closed || this.receiving) return;
    await this.#consumer?.close();
    this.#consumer = await this.#subscribe();
  }

  #rest(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#mq.clock.after(ms, () => this.#wake?.());
      this.#wake = () => {
        timer.cancel();
        this.#wake = undefined;
        resolve();
      };
    });
  }

  /**
   * Deletes it, so that a lost link does not bring it back. Without a link it is gone already, and that it is to be
   * forgotten need not be waited for.
   */
  async #delete(wait: boolean): Promise<void> {
    try {
      const deleted = this.#mq.deleteQueue(this.name);
      if (wait) await deleted;
      else void deleted.catch((error: unknown) => this.#deleteLater(error));
    } catch (error) {
      this.#deleteLater(error);
    }
  }

  #deleteLater(error: unknown): void {
    if (error instanceof ConnectionLostError) void this.#delete(false);
  }
}
