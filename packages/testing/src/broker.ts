import {
  type Clock,
  ConnectError,
  type ConsumeSpec,
  type ExchangeSpec,
  type PublishVerdict,
  type QueueSpec,
  type QueueState,
  UnsupportedError,
} from '@acemq/core';
import { checkConsumer } from './consume-arguments.ts';
import { type DeathReason, deadLettered, turnsInCircle } from './dead-letter.ts';
import { checkSameExchange, checkSameQueue } from './equivalence.ts';
import { MemoryExchange } from './exchange.ts';
import type { MemoryLink } from './link.ts';
import { accepted, type HeldMessage } from './message.ts';
import type { PendingPublish } from './publish-channel.ts';
import { MemoryQueue, type QueueHost } from './queue.ts';
import { queueSettings } from './queue-arguments.ts';
import { accessRefused, type Kind, named, notFound, resourceLocked } from './refusals.ts';
import { keepAlive } from './turn.ts';

/**
 * What a login wants to do: RabbitMQ asks for `configure` to declare and delete, `write` to publish, `read`
 * to consume.
 */
export interface Access {
  readonly permission: 'configure' | 'write' | 'read';
  readonly kind: Kind;
  /** The queue or exchange; empty for the default exchange. */
  readonly name: string;
  /** The name of the connection that asks. */
  readonly link: string;
}

const TYPES = ['direct', 'fanout', 'topic', 'headers'];

/** The exchanges that every RabbitMQ has from the start. */
const BUILT_IN: readonly (readonly [string, string])[] = [
  ['amq.direct', 'direct'],
  ['amq.fanout', 'fanout'],
  ['amq.topic', 'topic'],
  ['amq.headers', 'headers'],
  ['amq.match', 'headers'],
];

/** What the broker is: its exchanges, queues and links, and what each order does to them. */
export class Broker implements QueueHost {
  readonly clock: Clock;
  readonly consumerTimeout: number | undefined;
  readonly queues: Map<string, MemoryQueue> = new Map();
  readonly exchanges: Map<string, MemoryExchange> = new Map();
  readonly links: Set<MemoryLink> = new Set();
  /** The broker's words for its alarm, while it has one. */
  alarm: string | undefined;
  frozen = false;
  /** Told about every publish that is routed; says whether it is to be nacked. */
  nacks: (queues: readonly MemoryQueue[]) => boolean = () => false;
  readonly #permits: (access: Access) => boolean;
  #tags = 0;
  #release: (() => void) | undefined;

  constructor(clock: Clock, consumerTimeout: number | undefined, permits: (access: Access) => boolean) {
    this.clock = clock;
    this.consumerTimeout = consumerTimeout;
    this.#permits = permits;
    for (const [name, type] of BUILT_IN) {
      this.exchanges.set(
        name,
        new MemoryExchange(name, { type, durable: true, autoDelete: false, arguments: {} }),
      );
    }
  }

  linkOpened(link: MemoryLink): void {
    this.links.add(link);
    this.#release ??= keepAlive();
  }

  linkEnded(link: MemoryLink): void {
    this.links.delete(link);
    if (this.links.size > 0) return;
    this.#release?.();
    this.#release = undefined;
  }

  declareExchange(link: MemoryLink, name: string, spec: ExchangeSpec): void {
    if (name === '') throw accessRefused('operation not permitted on the default exchange');
    if (!TYPES.includes(spec.type)) {
      throw new UnsupportedError(
        `the in-memory broker does not have exchanges of type '${spec.type}' (${name}); it has ${TYPES.join(', ')}`,
      );
    }
    this.#permit(link, 'configure', 'exchange', name);
    const existing = this.exchanges.get(name);
    if (existing !== undefined) {
      checkSameExchange(name, existing.spec, spec);
      return;
    }
    checkReserved('exchange', name);
    this.exchanges.set(name, new MemoryExchange(name, { ...spec, arguments: { ...spec.arguments } }));
  }

  declareQueue(link: MemoryLink, name: string, spec: QueueSpec): void {
    if (name === '') {
      throw new UnsupportedError(
        'the in-memory broker does not name queues; a queue needs a name to be declared',
      );
    }
    const existing = this.queues.get(name);
    if (existing === undefined) checkReserved('queue', name);
    this.#permit(link, 'configure', 'queue', name);
    if (existing !== undefined) {
      if (existing.owner !== (spec.exclusive ? link : undefined)) throw resourceLocked(name);
      checkSameQueue(name, existing.settings.type, existing.spec, spec);
      existing.touch();
      return;
    }
    const settings = queueSettings(name, spec);
    if (settings.deadLetterExchange !== undefined) {
      this.#permit(link, 'read', 'queue', name);
      this.#permit(link, 'write', 'exchange', settings.deadLetterExchange);
    }
    const owner = spec.exclusive ? link : undefined;
    const copy = { ...spec, arguments: { ...spec.arguments } };
    this.queues.set(name, new MemoryQueue(name, copy, settings, owner, this));
  }

  bind(link: MemoryLink, queueName: string, exchangeName: string, routingKey: string): void {
    if (exchangeName === '') throw accessRefused('operation not permitted on the default exchange');
    this.#permit(link, 'write', 'queue', queueName);
    this.#permit(link, 'read', 'exchange', exchangeName);
    const exchange = this.exchanges.get(exchangeName);
    if (exchange === undefined) throw notFound('exchange', exchangeName);
    exchange.bind(this.#queueFor(link, queueName), routingKey);
  }

  checkQueue(link: MemoryLink, name: string): QueueState | undefined {
    if (!this.queues.has(name)) return undefined;
    const queue = this.#queueFor(link, name);
    queue.touch();
    return { messages: queue.depth, consumers: queue.consumers.size };
  }

  checkExchange(name: string): boolean {
    if (name === '') throw accessRefused('operation not permitted on the default exchange');
    return this.exchanges.has(name);
  }

  deleteQueue(link: MemoryLink, name: string): number {
    this.#permit(link, 'configure', 'queue', name);
    return this.queues.has(name) ? this.removeQueue(this.#queueFor(link, name)) : 0;
  }

  deleteExchange(link: MemoryLink, name: string): void {
    if (name === '') throw accessRefused('operation not permitted on the default exchange');
    if (name.startsWith('amq.'))
      throw accessRefused(`deletion of system ${named('exchange', name)} not allowed`);
    this.#permit(link, 'configure', 'exchange', name);
    this.exchanges.delete(name);
  }

  /** A queue that this link may take messages from. Throws the broker's refusal. */
  queueToRead(link: MemoryLink, name: string): MemoryQueue {
    this.#permit(link, 'read', 'queue', name);
    return this.#queueFor(link, name);
  }

  /** Whether and under which tag a consumer may begin. Throws the broker's refusal. */
  consume(link: MemoryLink, name: string, spec: ConsumeSpec): { queue: MemoryQueue; tag: string } {
    const queue = this.queueToRead(link, name);
    checkConsumer(queue, spec);
    this.#tags += 1;
    return { queue, tag: spec.tag === '' ? `amq.ctag-memory-${this.#tags}` : spec.tag };
  }

  /** Takes a publish off the wire. Throws the refusal that closes its channel. */
  publish(link: MemoryLink, pending: PendingPublish): PublishVerdict {
    this.#permit(link, 'write', 'exchange', pending.exchange);
    if (pending.exchange !== '' && !this.exchanges.has(pending.exchange))
      throw notFound('exchange', pending.exchange);
    const message = accepted(pending.message);
    const queues = this.#route(pending.exchange, message);
    if (queues.length === 0) return pending.mandatory ? 'unroutable' : 'confirmed';
    if (this.nacks(queues)) return 'nacked';
    let taken = true;
    for (const queue of queues) taken = queue.enqueue(message) && taken;
    return taken ? 'confirmed' : 'nacked';
  }

  deadLetter(queue: MemoryQueue, message: HeldMessage, reason: DeathReason): void {
    const { deadLetterExchange: exchange, deadLetterRoutingKey: routingKey } = queue.settings;
    if (exchange === undefined) return;
    const dead = deadLettered(message, {
      reason,
      queue: queue.name,
      exchange,
      routingKey,
      now: this.clock.now(),
    });
    for (const target of this.#route(exchange, dead)) {
      if (reason === 'rejected' || !turnsInCircle(dead, target.name)) target.enqueue(dead);
    }
  }

  removeQueue(queue: MemoryQueue): number {
    if (this.queues.get(queue.name) !== queue) return 0;
    this.queues.delete(queue.name);
    for (const exchange of [...this.exchanges.values()]) {
      if (exchange.unbind(queue) && exchange.spec.autoDelete && exchange.bindings.length === 0) {
        this.exchanges.delete(exchange.name);
      }
    }
    return queue.delete();
  }

  /** A link has gone, and its exclusive queues with it. */
  deleteExclusive(link: MemoryLink): void {
    for (const queue of [...this.queues.values()]) if (queue.owner === link) this.removeQueue(queue);
  }

  /** Everything that does not survive a restart goes. */
  restarted(): void {
    for (const queue of [...this.queues.values()]) {
      if (queue.spec.durable) queue.restarted();
      else this.removeQueue(queue);
    }
    for (const exchange of [...this.exchanges.values()]) {
      if (!exchange.spec.durable) this.exchanges.delete(exchange.name);
    }
  }

  thaw(): void {
    this.frozen = false;
    for (const link of [...this.links]) link.thaw();
    for (const queue of [...this.queues.values()]) queue.move();
  }

  /** The queues that a message goes to, each once. */
  #route(exchangeName: string, message: HeldMessage): readonly MemoryQueue[] {
    const found: MemoryQueue[] = [];
    const asked = new Set<string>();
    for (let name: string | undefined = exchangeName; name !== undefined; ) {
      if (asked.has(name)) break;
      asked.add(name);
      const exchange: MemoryExchange | undefined = this.exchanges.get(name);
      for (const key of message.routingKeys) this.#match(name, exchange, key, found);
      name = found.length === 0 ? exchange?.alternate : undefined;
    }
    return found;
  }

  #match(name: string, exchange: MemoryExchange | undefined, key: string, found: MemoryQueue[]): void {
    if (name === '') {
      const queue = this.queues.get(key);
      if (queue !== undefined && !found.includes(queue)) found.push(queue);
    } else if (exchange !== undefined) {
      for (const queue of exchange.matching(key)) if (!found.includes(queue)) found.push(queue);
    }
  }

  #queueFor(link: MemoryLink, name: string): MemoryQueue {
    const queue = this.queues.get(name);
    if (queue === undefined) throw notFound('queue', name);
    if (queue.owner !== undefined && queue.owner !== link) throw resourceLocked(name);
    return queue;
  }

  #permit(link: MemoryLink, permission: Access['permission'], kind: Kind, name: string): void {
    if (this.#permits({ permission, kind, name, link: link.name })) return;
    const shown = kind === 'exchange' && name === '' ? 'amq.default' : name;
    throw accessRefused(`access to ${named(kind, shown)} refused for user 'guest'`);
  }
}

function checkReserved(kind: Kind, name: string): void {
  if (!name.startsWith('amq.')) return;
  throw accessRefused(`${kind} name '${name}' contains reserved prefix 'amq.*'`);
}

/** A dial that the broker refuses, in RabbitMQ's words. */
export function loginRefused(): ConnectError {
  return new ConnectError(
    'the broker refused the connection: 403 ACCESS_REFUSED - Login was refused using authentication mechanism PLAIN',
    { refused: true },
  );
}
