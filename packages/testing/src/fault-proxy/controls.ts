import type { Clock } from '@acemq/core';

/** Which way bytes go: from the client to the broker, or from the broker to the client. */
export type FaultDirection = 'toBroker' | 'toClient';

/** How a connection is cut. */
export interface CutOptions {
  /**
   * What the ends see. `rst` (default): a reset, as from a host that lost its state; what was under way may
   * be lost. `fin`: an orderly end of the stream, as from a process that exits. A process on Node reports a
   * reset that it notices in the same instant as the bytes before it as an orderly end.
   */
  readonly how?: 'rst' | 'fin';
  /**
   * Which ends see it. Default `both`. With `client` the broker keeps the connection and hears nothing more
   * of it, as when the client's host went away; with `broker` it is the other way round.
   */
  readonly side?: 'client' | 'broker' | 'both';
}

/**
 * What can be done to a connection.
 *
 * On a {@link FaultConnection} it is done to that one. On a {@link FaultProxy} it is done to all that are
 * open, and, except for `cut`, to all that are accepted later. Every control throws `ConfigurationError` for
 * a value it does not take, and does nothing to what has ended.
 */
export interface FaultControls {
  /** Cuts it now, whatever else is set. */
  cut(options?: CutOptions): void;
  /**
   * Goes mute in one direction or in `both` (default): what is sent is neither read nor answered, so the
   * sender's socket fills up, and an end or a reset is not passed on either. At most 64 KiB that were already
   * on the way to the receiver can still arrive.
   */
  freeze(direction?: FaultDirection | 'both'): void;
  /** Ends a freeze. What was held is passed on, an end or a reset included. */
  thaw(direction?: FaultDirection | 'both'): void;
  /**
   * Passes everything on `ms` milliseconds after it came; 0 ends it. At most 1 MiB waits in a direction; the
   * rest waits with the sender. What is already under way keeps its delay.
   */
  delay(ms: number, direction?: FaultDirection | 'both'): void;
  /**
   * Passes on at most this many bytes a second, in each connection and each direction; `undefined` ends it.
   * Never more than a tenth of a second's worth at once.
   */
  limit(bytesPerSecond: number | undefined, direction?: FaultDirection | 'both'): void;
  /**
   * Cuts a connection when its `n`-th byte (1 or more, counted from its beginning) has been passed on in this
   * direction, and passes on none after it; `undefined` takes that back. A connection that has passed more is
   * cut at once. On a proxy this is for the connections accepted from now on.
   */
  cutAtByte(direction: FaultDirection, n: number | undefined, options?: CutOptions): void;
  /**
   * The same, by whole AMQP frames (0-9-1, 2.3.5). The protocol header that a client begins with is no frame.
   * Throws `ConfigurationError` on a proxy for `amqps:`, whose frames cannot be seen.
   */
  cutAfterFrame(direction: FaultDirection, n: number | undefined, options?: CutOptions): void;
}

/** What was passed on, by direction. */
export interface FaultCounts {
  readonly toBroker: number;
  readonly toClient: number;
}

/** One connection that goes through a {@link FaultProxy}. */
export interface FaultConnection extends FaultControls {
  /** 1 for the first that the proxy accepted, then 2, and so on. */
  readonly id: number;
  /**
   * The `connection_name` that the client gave itself, as soon as it has said so; never known with `amqps:`.
   */
  readonly name: string | undefined;
  /** Whether one of its two sockets is still open. */
  readonly open: boolean;
  /** Bytes passed on. */
  readonly bytes: FaultCounts;
  /** Whole frames passed on; 0 with `amqps:`. */
  readonly frames: FaultCounts;
}

/** A TCP proxy in front of a broker that makes the network fail on purpose. */
export interface FaultProxy extends FaultControls {
  /** The URL to connect to: as the one that was given, with the host 127.0.0.1 and the proxy's port. */
  readonly url: string;
  /** The proxy's port. */
  readonly port: number;
  /** Those that are open, oldest first. */
  readonly connections: readonly FaultConnection[];
  /** How many it has accepted so far. */
  readonly accepted: number;
  /** Listens no more: new connections are refused (ECONNREFUSED). Those that are open go on. */
  refuse(): void;
  /**
   * Listens again, on the same port. Resolves when it does. Rejects with the system's error when another
   * process has taken the port, and with `ConnectionClosedError` after `close()`.
   */
  accept(): Promise<void>;
  /** Calls `listener` for each new connection before anything passes. Returns what ends that. */
  onConnection(listener: (connection: FaultConnection) => void): () => void;
  /**
   * Calls `listener` for each connection that says its name, before the end of the frame that says it is
   * passed on: up to then one frame of the broker has passed and none of the client. Returns what ends that.
   */
  onNamed(listener: (connection: FaultConnection) => void): () => void;
  /** Cuts everything and stops. Resolves when no socket is left. Later calls give the same promise. */
  close(): Promise<void>;
  /** The same as `close()`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** What a fault proxy may be given. */
export interface FaultProxyOptions {
  /** Port to listen on, 0 to 65535. Default 0: one that is free. */
  readonly port?: number;
  /** What `delay` and `limit` go by. Default: the machine's time. */
  readonly clock?: Clock;
}
