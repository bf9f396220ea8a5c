import {
  type Clock,
  ConfigurationError,
  ConnectError,
  ConnectionLostError,
  type DialRequest,
  type Link,
  systemClock,
} from '@acemq/core';
import { Broker, loginRefused } from './broker.ts';
import type {
  BindingInfo,
  DialRefusal,
  ExchangeInfo,
  LinkChoice,
  LinkInfo,
  MemoryBroker,
  MemoryBrokerOptions,
  QueueInfo,
  WaitingMessage,
} from './controls.ts';
import { MemoryLink } from './link.ts';
import type { HeldMessage } from './message.ts';
import type { MemoryQueue } from './queue.ts';
import { soon } from './turn.ts';
import { wireTable } from './wire-table.ts';

const DEFAULT_CONSUMER_TIMEOUT = 1_800_000;
const KNOWN_OPTIONS = ['clock', 'permits', 'consumerTimeout'];

class InMemoryBroker implements MemoryBroker {
  readonly name = 'memory';
  readonly endpoints: readonly string[] = Object.freeze(['memory://']);
  readonly clock: Clock;
  readonly #broker: Broker;
  readonly #frozenDials = new Set<() => void>();
  #refusal: DialRefusal | undefined;
  #refusals = 0;
  #stopped = false;
  #nacks = 0;
  #nackQueue: string | undefined;

  constructor(options: MemoryBrokerOptions) {
    this.clock = options.clock ?? systemClock;
    const timeout = options.consumerTimeout ?? DEFAULT_CONSUMER_TIMEOUT;
    this.#broker = new Broker(
      this.clock,
      timeout === false ? undefined : timeout,
      options.permits ?? (() => true),
    );
    this.#broker.nacks = (queues) => this.#nack(queues);
  }

  dial(request: DialRequest): Promise<Link> {
    return new Promise((resolve, reject) => {
      const attempt = (): void => {
        if (request.signal?.aborted) {
          reject(
            new ConnectError('cannot connect to memory://: the attempt was aborted', {
              cause: request.signal.reason,
            }),
          );
        } else if (this.#broker.frozen) {
          this.#wait(request, attempt, reject);
        } else {
          const refused = this.#refuse(request);
          if (refused === undefined) resolve(this.#link(request));
          else reject(refused);
        }
      };
      soon(attempt);
    });
  }

  #link(request: DialRequest): MemoryLink {
    const link = new MemoryLink(this.#broker, request.name, request.events);
    this.#broker.linkOpened(link);
    return link;
  }

  #refuse(request: DialRequest): ConnectError | undefined {
    if (request.endpoint !== 0)
      return new ConnectError(`there is no endpoint ${request.endpoint}; there is one, 0`);
    if (this.#stopped) return unreachable();
    if (this.#refusal === undefined || this.#refusals === 0) return undefined;
    this.#refusals -= 1;
    return this.#refusal === 'credentials' ? loginRefused() : unreachable();
  }

  /** A mute broker is waited for until the dial's own deadline. */
  #wait(request: DialRequest, again: () => void, reject: (error: Error) => void): void {
    const end = (next: () => void): void => {
      timer.cancel();
      request.signal?.removeEventListener('abort', aborted);
      this.#frozenDials.delete(thawed);
      next();
    };
    const thawed = (): void => end(again);
    const aborted = (): void => end(again);
    const timer = this.clock.after(request.timeout, () =>
      end(() => reject(new ConnectError(`memory:// did not answer within ${request.timeout} ms`))),
    );
    request.signal?.addEventListener('abort', aborted);
    this.#frozenDials.add(thawed);
  }

  block(reason = 'low on memory'): void {
    this.#broker.alarm = reason;
  }

  unblock(): void {
    this.#broker.alarm = undefined;
    for (const link of [...this.#broker.links]) link.unblock();
  }

  dropLinks(choice: LinkChoice = {}): number {
    const reason = choice.reason ?? 'the connection was cut';
    const chosen = [...this.#broker.links].filter((link) => choice.name?.(link.name) ?? true);
    for (const link of chosen) link.lose(new ConnectionLostError(reason));
    return chosen.length;
  }

  refuseDials(why: DialRefusal, times = Number.POSITIVE_INFINITY): void {
    if (times !== Number.POSITIVE_INFINITY) checkCount('refuseDials(why, times)', times);
    this.#refusal = why;
    this.#refusals = times;
  }

  acceptDials(): void {
    this.#refusal = undefined;
  }

  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.dropLinks({
      reason: "320 CONNECTION_FORCED - broker forced connection closure with reason 'shutdown'",
    });
    this.#broker.alarm = undefined;
    this.#broker.restarted();
  }

  start(): void {
    this.#stopped = false;
  }

  freeze(): void {
    this.#broker.frozen = true;
  }

  thaw(): void {
    this.#broker.thaw();
    for (const thawed of [...this.#frozenDials]) thawed();
  }

  nackNext(count = 1, queue?: string): void {
    checkCount('nackNext(count)', count);
    this.#nacks = count;
    this.#nackQueue = queue;
  }

  #nack(queues: readonly MemoryQueue[]): boolean {
    if (this.#nacks === 0) return false;
    if (this.#nackQueue !== undefined && !queues.some((queue) => queue.name === this.#nackQueue))
      return false;
    this.#nacks -= 1;
    return true;
  }

  cancelConsumers(queue: string): number {
    return this.#broker.queues.get(queue)?.cancelConsumers() ?? 0;
  }

  get links(): readonly LinkInfo[] {
    return [...this.#broker.links].map((link) => ({
      name: link.name,
      blocked: link.blocked,
      consumers: link.subscriptions.size,
    }));
  }

  get queues(): readonly QueueInfo[] {
    return [...this.#broker.queues.values()].map((queue) => ({
      name: queue.name,
      type: queue.settings.type,
      messages: queue.depth,
      unsettled: queue.unsettled,
      consumers: queue.consumers.size,
    }));
  }

  get exchanges(): readonly ExchangeInfo[] {
    return [...this.#broker.exchanges.values()].map(({ name, spec }) => ({ name, type: spec.type }));
  }

  get bindings(): readonly BindingInfo[] {
    return [...this.#broker.exchanges.values()].flatMap((exchange) =>
      exchange.bindings.map(({ queue, routingKey }) => ({
        queue: queue.name,
        exchange: exchange.name,
        routingKey,
      })),
    );
  }

  messages(queue: string): readonly WaitingMessage[] {
    const entries = this.#broker.queues.get(queue)?.entries() ?? [];
    return entries.map(({ message, returns }) => shown(message, returns > 0));
  }

  depth(queue: string): number {
    return this.#broker.queues.get(queue)?.depth ?? 0;
  }
}

function shown(message: HeldMessage, redelivered: boolean): WaitingMessage {
  const { routingKeys, persistent: _, headers, ...rest } = message;
  return { ...rest, headers: wireTable(headers), routingKey: routingKeys[0], redelivered };
}

function checkCount(what: string, count: number): void {
  if (Number.isInteger(count) && count >= 1) return;
  throw new ConfigurationError(`${what}: ${count} is not an integer of 1 or more`);
}

function unreachable(): ConnectError {
  return new ConnectError('memory:// cannot be reached: nobody is there');
}

/**
 * An in-memory broker that a test or a demo connects to instead of RabbitMQ.
 *
 * Throws `ConfigurationError` for an unknown option or a `consumerTimeout` that is not a number above 0.
 */
export function memoryBroker(options: MemoryBrokerOptions = {}): MemoryBroker {
  const unknown = Object.keys(options).find((name) => !KNOWN_OPTIONS.includes(name));
  if (unknown !== undefined) {
    throw new ConfigurationError(
      `memoryBroker: unknown option '${unknown}'; it takes ${KNOWN_OPTIONS.join(', ')}`,
    );
  }
  const { consumerTimeout } = options;
  if (consumerTimeout !== undefined && consumerTimeout !== false && !(consumerTimeout > 0)) {
    throw new ConfigurationError(
      `memoryBroker: consumerTimeout: ${consumerTimeout} is not a number of milliseconds above 0, or false`,
    );
  }
  return new InMemoryBroker(options);
}
