import {
  type Clock,
  checkIncoming,
  type Envelope,
  type Message,
  RequestTimeoutError,
  renderDelay,
  type StandardSchema,
} from '@acemq/core';
import {
  type Observer,
  OUTCOME_ANSWERED,
  OUTCOME_FAILED,
  OUTCOME_TIMED_OUT,
  type RequestOutcome,
} from '@acemq/observe';
import type { Ask, AskOwner } from './ask.ts';
import { Deadlines } from './deadlines.ts';
import { GivenUp } from './given-up.ts';
import { answeredBy } from './matching.ts';
import { failureOf } from './reply-failure.ts';
import { RequestTelemetry } from './telemetry.ts';
import { Undecodable } from './undecodable.ts';

/** What {@link WaitingAsks} is made with. */
export interface WaitingAsksParts<Answer> {
  readonly clock: Clock;
  readonly observer: Observer;
  /** The time-out that nearly all have, in milliseconds. */
  readonly usualTimeout: number;
  readonly schema: StandardSchema<unknown, Answer> | undefined;
  /** Why replies do not come in at present; undefined while they do. */
  stalled(): string | undefined;
}

/**
 * The asks that wait for their reply, by the id of their request. Each ends once: with a reply, at its deadline, or as
 * failed; it is counted first and settled then.
 */
export class WaitingAsks<Answer> implements AskOwner<Answer> {
  answered = 0;
  failed = 0;
  timedOutCount = 0;
  unmatched = 0;
  late = 0;
  readonly #parts: WaitingAsksParts<Answer>;
  readonly #telemetry: RequestTelemetry;
  readonly #deadlines: Deadlines;
  readonly #asks = new Map<string, Ask<Answer>>();
  readonly #givenUp = new GivenUp();

  constructor(parts: WaitingAsksParts<Answer>) {
    this.#parts = parts;
    this.#telemetry = new RequestTelemetry(parts.observer, parts.clock);
    this.#deadlines = new Deadlines(parts.clock, parts.usualTimeout);
  }

  get size(): number {
    return this.#asks.size;
  }

  /** Whether it still waits. */
  has(ask: Ask<Answer>): boolean {
    return this.#asks.has(ask.id);
  }

  /** It waits from now on. */
  begin(ask: Ask<Answer>): void {
    this.#asks.set(ask.id, ask);
    this.#deadlines.add(ask, ask.parts.timeout, ask.parts.started);
  }

  /** Counts one that never began. */
  refused(routingKey: string, started: number): void {
    this.failed += 1;
    this.#telemetry.ended(routingKey, OUTCOME_FAILED, started);
  }

  /** A reply came, whoever it is for. */
  received({ envelope, payload }: Pick<Message<unknown>, 'envelope' | 'payload'>): void {
    const ask = answeredBy(envelope, this.#asks);
    if (ask === undefined || ask.arrived) {
      this.unmatched += 1;
      if (ask === undefined && this.#isLate(envelope)) this.late += 1;
      return;
    }
    const failure =
      failureOf(envelope.headers) ?? (payload instanceof Undecodable ? payload.error : undefined);
    if (failure === undefined) this.#check(ask, payload, envelope);
    else this.#refuse(ask, failure);
  }

  /** It came to nothing. Does nothing where it has ended. */
  fail(ask: Ask<Answer>, error: unknown): void {
    if (!this.#end(ask, OUTCOME_FAILED)) return;
    this.failed += 1;
    this.#givenUp.add(ask.id);
    ask.parts.reject(error);
  }

  timedOut(ask: Ask<Answer>): void {
    if (!this.#end(ask, OUTCOME_TIMED_OUT)) return;
    this.timedOutCount += 1;
    this.#givenUp.add(ask.id);
    const error = new RequestTimeoutError(
      `no reply to ${named(ask)} came within ${renderDelay(ask.parts.timeout)}${this.#because(ask)}`,
    );
    ask.withdrawal.abort(error);
    ask.parts.reject(error);
  }

  /** Ends all of them, and the timers with them. */
  endAll(why: string): void {
    this.#deadlines.stop();
    for (const ask of [...this.#asks.values()]) {
      const error = new RequestTimeoutError(`${why} before the reply to ${named(ask)} came`);
      ask.withdrawal.abort(error);
      this.fail(ask, error);
    }
  }

  #check(ask: Ask<Answer>, payload: unknown, envelope: Envelope): void {
    const { schema } = this.#parts;
    let checked: unknown = payload;
    try {
      if (schema !== undefined) checked = checkIncoming(schema as StandardSchema, payload);
    } catch (error) {
      this.#refuse(ask, error);
      return;
    }
    if (!(schema !== undefined && checked instanceof Promise)) {
      this.#answer(ask, checked as Answer, envelope);
      return;
    }
    ask.arrived = true;
    checked.then(
      (answer: Answer) => this.#answer(ask, answer, envelope),
      (error: unknown) => this.#refuse(ask, error),
    );
  }

  #answer(ask: Ask<Answer>, answer: Answer, envelope: Envelope): void {
    if (!this.#end(ask, OUTCOME_ANSWERED)) return;
    this.answered += 1;
    ask.parts.resolve(answer, envelope);
  }

  /** There is a reply, and it is no answer. */
  #refuse(ask: Ask<Answer>, error: unknown): void {
    if (!this.#end(ask, OUTCOME_ANSWERED)) return;
    this.answered += 1;
    ask.parts.reject(error);
  }

  #end(ask: Ask<Answer>, outcome: RequestOutcome): boolean {
    if (!this.#asks.delete(ask.id)) return false;
    this.#deadlines.remove(ask);
    ask.unwatch?.();
    this.#telemetry.ended(ask.parts.routingKey, outcome, ask.parts.started);
    return true;
  }

  #isLate({ correlationId, causationId }: Envelope): boolean {
    return (
      this.#givenUp.take(correlationId) || (causationId !== undefined && this.#givenUp.take(causationId))
    );
  }

  #because(ask: Ask<Answer>): string {
    if (ask.arrived) return ': its reply is here, and the schema of the replies has not answered';
    const stalled = this.#parts.stalled();
    if (stalled !== undefined) return `: replies do not come in at present (${stalled})`;
    if (!ask.confirmed) return ': the broker has not confirmed the request yet';
    return '. It may have been worked, or be worked yet';
  }
}

function named<Answer>({ parts: { envelope, routingKey } }: Ask<Answer>): string {
  return `the request ${envelope.id} (${routingKey === '' ? envelope.type : routingKey})`;
}
