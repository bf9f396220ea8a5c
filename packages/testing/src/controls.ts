import type { Clock, Delivery, ExchangeType, Transport } from '@acemq/core';
import type { Access } from './broker.ts';
import type { QueueType } from './queue-arguments.ts';

/** What `memoryBroker` may be given. */
export interface MemoryBrokerOptions {
  /**
   * Where time comes from: `manualClock()` in a test that moves it itself. Default: the machine's own time.
   */
  readonly clock?: Clock;
  /**
   * Asked before each order, as RabbitMQ asks for permissions; false refuses it with 403. Default: everything
   * is permitted.
   */
  readonly permits?: (access: Access) => boolean;
  /**
   * Milliseconds that a delivery may stay unsettled before the broker closes its channel (406), as RabbitMQ
   * does. Default 1,800,000 (30 minutes); `false` for no limit.
   */
  readonly consumerTimeout?: number | false;
}

/** Why dials are to fail: the password is wrong, or nobody is there. */
export type DialRefusal = 'credentials' | 'unreachable';

/** One connection, as the broker sees it. */
export interface LinkInfo {
  readonly name: string;
  /** Whether an alarm keeps the broker from reading it. */
  readonly blocked: boolean;
  readonly consumers: number;
}

/** A queue, as the broker sees it. A snapshot. */
export interface QueueInfo {
  readonly name: string;
  readonly type: QueueType;
  /** Messages that wait for delivery. */
  readonly messages: number;
  /** Messages that were delivered and are not settled. */
  readonly unsettled: number;
  readonly consumers: number;
}

/** An exchange, as the broker sees it. */
export interface ExchangeInfo {
  readonly name: string;
  readonly type: ExchangeType;
}

/** A binding of a queue. */
export interface BindingInfo {
  readonly queue: string;
  readonly exchange: string;
  readonly routingKey: string;
}

/** A message that waits in a queue, as a delivery would show it. */
export type WaitingMessage = Omit<Delivery, 'ack' | 'nack'>;

/** Which links a control speaks of. */
export interface LinkChoice {
  /** Only links whose name this accepts. Default: all. */
  readonly name?: (name: string) => boolean;
  /** What the lost links are told. */
  readonly reason?: string;
}

/**
 * A broker in this process, behind the same port as RabbitMQ, and the controls with which a test breaks it.
 *
 * Give it to `connect()`; several connections may share one. It behaves as RabbitMQ 3.10 does, refusals word
 * by word, and refuses with `UnsupportedError` what it does not have: streams, priorities, single active
 * consumers, dead-lettering at least once, server-named queues, exchange types of plug-ins.
 *
 * The controls work at once; a control may be called from anywhere but from within an event of a link.
 */
export interface MemoryBroker extends Transport {
  readonly clock: Clock;

  /**
   * Raises an alarm: the broker stops reading each link at the link's next publish, and tells it then.
   * `reason` is the broker's words; default `low on memory`.
   */
  block(reason?: string): void;
  /** Ends the alarm. What the links wrote meanwhile is read. */
  unblock(): void;
  /** Cuts connections, and returns how many. */
  dropLinks(choice?: LinkChoice): number;
  /** Lets dials fail: the next `times` (default: all) until {@link acceptDials}. */
  refuseDials(why: DialRefusal, times?: number): void;
  /** Lets dials succeed again. */
  acceptDials(): void;
  /** Stops the broker: every link is cut, nobody is there, and what is not durable is lost. */
  stop(): void;
  /** Starts it again. */
  start(): void;
  /** The broker goes mute: it reads nothing, delivers nothing and answers no dial. */
  freeze(): void;
  /** It answers again. */
  thaw(): void;
  /**
   * Nacks the next `count` publishes (default 1) that are routed, or that are routed to `queue`, and drops
   * them.
   */
  nackNext(count?: number, queue?: string): void;
  /**
   * Cancels every consumer of a queue, as a broker does whose node goes, and returns how many there were. What
   * is out on them and was not settled goes back to the queue.
   */
  cancelConsumers(queue: string): number;

  readonly links: readonly LinkInfo[];
  readonly queues: readonly QueueInfo[];
  /** Without the default exchange. */
  readonly exchanges: readonly ExchangeInfo[];
  readonly bindings: readonly BindingInfo[];
  /**
   * The messages that wait in a queue, in the order in which they would be delivered. Empty when there is no
   * such queue.
   */
  messages(queue: string): readonly WaitingMessage[];
  /** How many messages wait in a queue; 0 when there is no such queue. */
  depth(queue: string): number;
}
