import type { Ack } from './ack.ts';
import type { Envelope } from './envelope.ts';
import type { Settlement } from './settlement.ts';
import type { Tracing } from './tracing.ts';
import type { BrokerEndpoint } from './transport.ts';

/** One publish, on its way through the chain. What an interceptor leaves in the fields is what is sent. */
export interface PublishContext {
  exchange: string;
  routingKey: string;
  envelope: Envelope;
  payload: unknown;
  persistent: boolean;
  mandatory: boolean;
  replyTo: string | undefined;
}

/**
 * Runs the rest of the chain and the publish itself. Resolves when the broker has confirmed, rejects otherwise:
 * also where an interceptor further in did not call its own `next`, or kept the error of it to itself.
 */
export type PublishNext = () => Promise<void>;

/**
 * Stands around a publish. It calls `next` once; where it returns without having called it, nothing is sent and
 * the publish rejects as failed. What it throws is what the publish rejects with.
 */
export type PublishInterceptor = (context: PublishContext, next: PublishNext) => Promise<void>;

/** One delivery, on its way through the chain, after its body was decoded. */
export interface ConsumeContext {
  readonly queue: string;
  readonly exchange: string;
  readonly routingKey: string;
  readonly contentType: string | undefined;
  readonly redelivered: boolean;
  readonly body: Uint8Array;
  /**
   * What an interceptor leaves here is what the handler sees, and what a retry or a set-aside is written
   * with.
   */
  envelope: Envelope;
  /** What an interceptor leaves here is what the handler sees. */
  payload: unknown;
  /** For interceptors to pass things along; empty at first, and this delivery's alone. */
  readonly state: Map<unknown, unknown>;
  readonly signal: AbortSignal;
  /**
   * Calls the listener once when it is decided what becomes of this delivery, before it is carried out.
   * Returns false, and never calls, when that is decided already. An error that the listener throws is logged
   * and goes no further.
   *
   * `undecided` is called in its place where nothing could be decided (an interceptor left an envelope that cannot
   * be read, say) and the delivery is left to the broker.
   */
  whenSettled(listener: (settlement: Settlement) => void, undecided?: (error: unknown) => void): boolean;
}

/** Runs the rest of the chain and the handler. */
export type ConsumeNext = () => Promise<Ack>;

/**
 * Stands around a handler. It may decide itself and not call `next`. What it throws is treated as if the
 * handler had thrown it.
 */
export type ConsumeInterceptor = (context: ConsumeContext, next: ConsumeNext) => Promise<Ack>;

/** What an adapter's `install` takes: something with a place for interceptors and for a tracing adapter. */
export interface Interceptable {
  /** Adds one; the first added is the outermost. Returns a function that takes it away again. */
  interceptPublish(interceptor: PublishInterceptor): () => void;
  /** Adds one; the first added is the outermost. Returns a function that takes it away again. */
  interceptConsume(interceptor: ConsumeInterceptor): () => void;
  /** Does nothing until an adapter sets it. */
  tracing: Tracing;
  /**
   * Where its link for publishing or for consuming leads at this moment; undefined while that is down, and for a
   * broker that is not reached over a network.
   */
  endpoint?(link: 'publish' | 'consume'): BrokerEndpoint | undefined;
}
