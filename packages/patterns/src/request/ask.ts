import type { Envelope } from '@acemq/core';
import { Expiring } from './deadlines.ts';

/** What an ask tells that its time is over. */
export interface AskOwner<Answer> {
  timedOut(ask: Ask<Answer>): void;
}

/** What one ask is. */
export interface AskParts<Answer> {
  readonly owner: AskOwner<Answer>;
  readonly envelope: Envelope;
  readonly routingKey: string;
  /** The clock's elapsed time before the request was published. */
  readonly started: number;
  /** Milliseconds. */
  readonly timeout: number;
  readonly resolve: (payload: Answer, envelope: Envelope) => void;
  readonly reject: (error: unknown) => void;
}

/** One request that waits for its reply. There is one for each, so it is the node of its list and holds its own outcome. */
export class Ask<Answer> extends Expiring {
  readonly parts: AskParts<Answer>;
  /** Whether the broker has taken the request. */
  confirmed = false;
  /** Its reply is here, and the schema has not spoken yet. */
  arrived = false;
  /** Takes the request back where it has not been written: nobody would wait for its reply. */
  readonly withdrawal: AbortController = new AbortController();
  /** Stops listening to the caller's signal. */
  unwatch: (() => void) | undefined = undefined;

  constructor(parts: AskParts<Answer>) {
    super();
    this.parts = parts;
  }

  /** Of the request: its reply names it. */
  get id(): string {
    return this.parts.envelope.id;
  }

  expired(): void {
    this.parts.owner.timedOut(this);
  }
}
