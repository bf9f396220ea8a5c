import {
  AbortedError,
  type Ack,
  type Clock,
  type Codec,
  type ConsumeInterceptor,
  checkIncoming,
  DecodeError,
  type Delivery,
  type Envelope,
  type Handler,
  isAck,
  type Logger,
  OUTCOME_ACKED,
  type RetryPolicy,
  readEnvelope,
  retry,
  type Settlement,
  type StandardSchema,
  settle,
  settleUndecodable,
  type Timer,
} from '@acemq/core';
import { runConsumeChain } from '../interceptors.ts';
import { type ConsumeTelemetry, seconds } from '../telemetry.ts';
import type { Reader } from './reader.ts';
import { RunContext } from './run-context.ts';
import { RunMessage } from './run-message.ts';
import type { Settler } from './settler.ts';

/** What a run needs of the consumer it belongs to. */
export interface RunHost {
  readonly queue: string;
  readonly handler: Handler<unknown>;
  readonly codec: Codec;
  readonly schema: StandardSchema | undefined;
  readonly policy: RetryPolicy;
  readonly settler: Settler;
  readonly telemetry: ConsumeTelemetry;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: () => number;
  /** The chain as it is now. */
  interceptors(): readonly ConsumeInterceptor[];
  /** Whether the consumer is being closed. */
  closing(): boolean;
  /** It is decided what becomes of the delivery: its worker is free. */
  decided(run: DeliveryRun): void;
  /** The delivery is settled, or no longer ours. */
  finished(run: DeliveryRun): void;
  /** A settlement came after the channel of the delivery had gone. */
  late(): void;
}

/**
 * One delivery, from the moment a worker takes it to its settlement: arrive, read the envelope, count the
 * attempt, decode, run the chain, settle, announce, count, act.
 */
export class DeliveryRun {
  readonly delivery: Delivery;
  readonly #host: RunHost;
  readonly #reader: Reader;
  #envelope: Envelope | undefined;
  #context: RunContext | undefined;
  #started = 0;
  #decided = false;
  #abandoned = false;
  #abort: AbortController | undefined;
  #waitsHere = false;
  #wake: (() => void) | undefined;

  constructor(host: RunHost, reader: Reader, delivery: Delivery) {
    this.#host = host;
    this.#reader = reader;
    this.delivery = delivery;
  }

  /** What a copy of the message is written with. */
  get envelope(): Envelope {
    return this.#envelope as Envelope;
  }

  /** Whether the delivery is still this consumer's to settle. */
  get live(): boolean {
    return this.#reader.alive && !this.#abandoned;
  }

  /** Whether its handler has answered. */
  get isDecided(): boolean {
    return this.#decided;
  }

  /** Aborted when the deadline of a close has passed. Made when it is asked for: most handlers never do. */
  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#abandoned) this.#abort.abort(pastDeadline());
    return this.#abort.signal;
  }

  /** Takes it up. Never throws. */
  start(): void {
    const host = this.#host;
    const { delivery } = this;
    try {
      const envelope = readEnvelope(delivery, host.clock.now());
      this.#envelope = envelope;
      host.telemetry.arrived(envelope.attempt);
      const payload = this.#decode(envelope);
      if (this.#decided) return;
      if (payload instanceof Promise) {
        payload.then(
          (checked: unknown) => this.#handle(checked),
          (error: unknown) => this.#settle(settleUndecodable(error, envelope)),
        );
      } else {
        this.#handle(payload);
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  /** The payload, or the promise of one where the schema answers later. Settles the run where there is none. */
  #decode(envelope: Envelope): unknown {
    const { codec, schema } = this.#host;
    try {
      const payload = codec.decode(this.delivery.body, this.delivery.contentType);
      if (payload instanceof Promise) {
        payload.catch(() => {});
        throw new DecodeError(
          `the codec for ${codec.contentType} answers with a promise; decode must answer at once`,
        );
      }
      return schema === undefined ? payload : checkIncoming(schema, payload);
    } catch (error) {
      this.#settle(settleUndecodable(error, envelope));
      return undefined;
    }
  }

  #handle(payload: unknown): void {
    const host = this.#host;
    if (host.telemetry.active) this.#started = seconds();
    const chain = host.interceptors();
    let answer: Ack | Promise<Ack>;
    try {
      if (chain.length === 0) {
        answer = host.handler(new RunMessage(this, host.queue, this.envelope, payload));
      } else {
        const context = new RunContext(this, host, this.envelope, payload);
        this.#context = context;
        answer = runConsumeChain(chain, context, () =>
          host.handler(new RunMessage(this, host.queue, context.envelope, context.payload)),
        );
      }
    } catch (error) {
      this.#decide(retry(error));
      return;
    }
    if (isAck(answer)) {
      this.#decide(answer);
      return;
    }
    // What is neither an Ack nor a promise may still have a `then`, that throws or answers twice: a promise minds that.
    const later: Promise<Ack> = answer instanceof Promise ? answer : Promise.resolve(answer);
    later.then(
      (ack) => this.#decide(ack),
      (error: unknown) => this.#decide(retry(error)),
    );
  }

  #decide(ack: Ack): void {
    const host = this.#host;
    let settlement: Settlement;
    try {
      const envelope = this.#context?.envelope ?? this.envelope;
      settlement = settle(ack, envelope, host.policy, host.clock.now(), host.random);
    } catch (error) {
      this.#fail(error);
      return;
    }
    host.telemetry.handled(settlement.outcome, this.#started);
    this.#context?.announce(settlement);
    this.#settle(settlement);
  }

  #settle(settlement: Settlement): void {
    const host = this.#host;
    this.#decided = true;
    this.#envelope = settlement.envelope;
    host.telemetry.settled(settlement, this.live);
    if (settlement.outcome === OUTCOME_ACKED) {
      this.ack();
      host.decided(this);
      this.#finish();
      return;
    }
    host.decided(this);
    if (!this.live) {
      host.late();
      this.#finish();
      return;
    }
    host.settler.carryOut(this, settlement).then(
      () => this.#finish(),
      (error: unknown) => this.#fail(error),
    );
  }

  /**
   * Something of ours went wrong. The delivery stays unsettled: the broker delivers it again when the channel
   * goes.
   */
  #fail(error: unknown): void {
    this.#host.logger.error('a delivery could not be settled and is left to the broker', {
      queue: this.#host.queue,
      id: this.#envelope?.id,
      error,
    });
    this.#context?.giveUp(error);
    if (!this.#decided) {
      this.#decided = true;
      this.#host.decided(this);
    }
    this.#finish();
  }

  #finish(): void {
    this.#host.telemetry.left();
    this.#host.finished(this);
  }

  ack(): void {
    if (!this.live || !this.delivery.ack()) this.#host.late();
  }

  nack(requeue: boolean): void {
    if (!this.live || !this.delivery.nack(requeue)) this.#host.late();
  }

  /**
   * Waits in this process, in the delivery's prefetch slot. Resolves to whether it is then to go on: false
   * when the delivery has been given back meanwhile, or has gone with its channel.
   */
  async waitHere(ms: number): Promise<boolean> {
    this.#waitsHere = true;
    if (this.#host.closing()) this.giveBackIfWaiting();
    await this.interruptible((wake) => this.#host.clock.after(ms, wake));
    this.#waitsHere = false;
    return this.live;
  }

  /** Resolves when `begin`'s callback is called, or as soon as the delivery is no longer ours. */
  async interruptible(begin: (wake: () => void) => Timer): Promise<void> {
    if (!this.live) return;
    await new Promise<void>((resolve) => {
      const timer = begin(() => {
        this.#wake = undefined;
        resolve();
      });
      this.#wake = () => {
        this.#wake = undefined;
        timer.cancel();
        resolve();
      };
    });
  }

  /** The subscription is gone and the broker has taken the delivery back: what waits need wait no longer. */
  gone(): void {
    this.#wake?.();
  }

  /** A close has begun: a delivery that waits here for its retry is given back at once. */
  giveBackIfWaiting(): void {
    if (!this.#waitsHere || !this.live) return;
    this.nack(true);
    this.#abandoned = true;
    this.#wake?.();
  }

  /** The deadline of a close has passed: nothing more is done about it. */
  abandon(): void {
    this.#abandoned = true;
    this.#abort?.abort(pastDeadline());
    this.#wake?.();
  }
}

function pastDeadline(): AbortedError {
  return new AbortedError('the consumer was closed and its deadline has passed');
}
