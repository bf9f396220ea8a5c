import { ConfigurationError, TopologyError } from './errors.ts';
import type { HeaderTable } from './headers.ts';
import { MANAGED_EXCHANGE } from './managed-topology.ts';
import {
  checkName,
  checkQueueName,
  checkRoutingKey,
  DEAD_LETTER_EXCHANGE,
  deadLetterQueueName,
  RETRY_EXCHANGE,
} from './naming.ts';
import { checkOptions } from './options.ts';
import { RetryLadder } from './retry-ladder.ts';
import { RetryPolicy } from './retry-policy.ts';
import { shown } from './shown.ts';
import {
  homeBinding,
  makePlan,
  type PlannedBinding,
  type PlannedExchange,
  type PlannedQueue,
  type QueueType,
  rungQueues,
  setAsideBindings,
  setAsideQueues,
  type TopologyPlan,
} from './topology-plan.ts';
import type { ExchangeSpec, ExchangeType } from './transport.ts';

/** How {@link TopologyBuilder.exchange} declares. */
export interface ExchangeOptions {
  /** Outlives the broker's restart. True by default. */
  readonly durable?: boolean | undefined;
  /** Goes with its last binding. False by default. */
  readonly autoDelete?: boolean | undefined;
  /** None by default. */
  readonly arguments?: Readonly<HeaderTable> | undefined;
}

/** How {@link TopologyBuilder.queue} declares. */
export interface QueueOptions {
  /**
   * Quorum by default; classic for an exclusive, auto-delete or transient queue, which cannot be anything
   * else.
   */
  readonly type?: QueueType | undefined;
  /** Outlives the broker's restart. True by default. */
  readonly durable?: boolean | undefined;
  /** Goes with its last consumer. False by default. */
  readonly autoDelete?: boolean | undefined;
  /** For this connection alone, and goes with it. False by default. */
  readonly exclusive?: boolean | undefined;
  /**
   * Whether its dead letters go to `{queue}.dlq`: brings the two arguments, `acemq.dlx`, `{queue}.dlq`,
   * `{queue}.parked` and their bindings. False by default, true when `retry` is given. For a dead-letter
   * exchange of your own, leave it off and give the arguments.
   */
  readonly deadLetter?: boolean | undefined;
  /**
   * The policy of its consumers: brings the rungs that it needs, `acemq.retry` and the binding home. None by
   * default. Give the consumers the same one.
   */
  readonly retry?: RetryPolicy | undefined;
  /** More arguments, as the broker knows them. None by default. */
  readonly arguments?: Readonly<HeaderTable> | undefined;
}

/**
 * Describes exchanges, queues and bindings; touches no broker. Each call adds to the same builder and returns
 * it.
 *
 * What a call can see to be wrong it refuses at once: with `ConfigurationError` for a name or an option that
 * cannot be used, with `TopologyError` (`ACEMQ_TOPOLOGY`) for what contradicts an earlier call or itself. A
 * call that is refused changes nothing.
 */
export interface TopologyBuilder {
  /**
   * Adds an exchange. `acemq.dlx` and `acemq.retry` may be added too, and must then be direct and durable.
   */
  exchange(name: string, type: ExchangeType, options?: ExchangeOptions): TopologyBuilder;
  /** Adds a queue, and what its options bring with it. */
  queue(name: string, options?: QueueOptions): TopologyBuilder;
  /**
   * Binds a queue to an exchange. Both must be part of this topology, before or after the call; the same
   * binding again changes nothing.
   *
   * @param routingKey - Empty by default.
   */
  bind(queue: string, exchange: string, routingKey?: string): TopologyBuilder;
  /**
   * What is to be declared. A snapshot: later calls do not change it.
   *
   * @throws `TopologyError`, which lists every binding to a queue or an exchange that is not part of this
   * topology.
   */
  plan(): TopologyPlan;
  /** The plan in words, or what is wrong with it; never throws. */
  toString(): string;
}

/** An empty topology. */
export function topology(): TopologyBuilder {
  return new Builder();
}

const EXCHANGE_OPTIONS: readonly string[] = [
  'durable',
  'autoDelete',
  'arguments',
] satisfies (keyof ExchangeOptions)[];
const QUEUE_OPTIONS: readonly string[] = [
  'type',
  'durable',
  'autoDelete',
  'exclusive',
  'deadLetter',
  'retry',
  'arguments',
] satisfies (keyof QueueOptions)[];

const QUEUE_TYPES: readonly QueueType[] = ['quorum', 'classic', 'stream'];

class Builder implements TopologyBuilder {
  readonly #exchanges = new Map<string, PlannedExchange & { readonly implied: boolean }>();
  readonly #queues = new Map<string, PlannedQueue>();
  readonly #bindings = new Map<string, PlannedBinding>();

  exchange(name: string, type: ExchangeType, options: ExchangeOptions = {}): this {
    checkName(name, 'exchange');
    checkOptions(options, EXCHANGE_OPTIONS, `the exchange ${shown(name)}`);
    if (typeof type !== 'string' || type.trim() === '') {
      throw new ConfigurationError(
        `the type of the exchange ${shown(name)} must be direct, topic, fanout, headers or one of a plug-in, not ${shown(type)}`,
      );
    }
    const spec: ExchangeSpec = Object.freeze({
      type,
      durable: flag(options.durable, true, 'durable'),
      autoDelete: flag(options.autoDelete, false, 'autoDelete'),
      arguments: Object.freeze(table(options.arguments)),
    });
    if (this.#exchanges.get(name)?.implied === false) {
      throw new TopologyError(`the exchange ${shown(name)} is declared twice`);
    }
    if (isManaged(name) && (type !== 'direct' || !spec.durable || spec.autoDelete)) {
      throw new TopologyError(
        `the exchange ${shown(name)} must be direct, durable and not auto-delete, as every service declares it`,
      );
    }
    this.#exchanges.set(name, Object.freeze({ name, spec, implied: false }));
    return this;
  }

  queue(name: string, options: QueueOptions = {}): this {
    const planned = planQueue(name, options);
    const { retry } = options;
    const deadLetter = wantsDeadLetter(options);
    const ladder = retry === undefined ? undefined : RetryLadder.for(name, retry);
    const rungs = ladder === undefined ? [] : rungQueues(ladder);
    const queues = [planned, ...rungs, ...(deadLetter ? setAsideQueues(name) : [])];
    for (const queue of queues) {
      if (!this.#queues.has(queue.name)) continue;
      const brought = queue === planned ? '' : `, the second time by the options of ${shown(name)}`;
      throw new TopologyError(`the queue ${shown(queue.name)} is declared twice${brought}`);
    }
    for (const queue of queues) this.#queues.set(queue.name, queue);
    if (deadLetter) {
      this.#imply(DEAD_LETTER_EXCHANGE);
      for (const binding of setAsideBindings(name)) this.#bind(binding);
    }
    if (rungs.length > 0) {
      this.#imply(RETRY_EXCHANGE);
      this.#bind(homeBinding(name));
    }
    return this;
  }

  bind(queue: string, exchange: string, routingKey = ''): this {
    checkQueueName(queue);
    if (exchange === '') {
      throw new TopologyError(
        `the queue ${shown(queue)} cannot be bound to the default exchange "", which routes by queue name on its own`,
      );
    }
    checkName(exchange, 'exchange');
    checkRoutingKey(routingKey);
    this.#bind(Object.freeze({ queue, exchange, routingKey }));
    return this;
  }

  plan(): TopologyPlan {
    const problems: string[] = [];
    for (const { queue, exchange } of this.#bindings.values()) {
      const missing: string[] = [];
      if (!this.#queues.has(queue)) missing.push(`the queue ${shown(queue)}`);
      if (!this.#exchanges.has(exchange)) missing.push(`the exchange ${shown(exchange)}`);
      if (missing.length === 0) continue;
      problems.push(`a binding of ${shown(queue)} to ${shown(exchange)} without ${missing.join(' and ')}`);
    }
    if (problems.length > 0) {
      throw new TopologyError(
        `the topology binds what it does not declare: ${[...new Set(problems)].join('; ')}`,
      );
    }
    const exchanges = [...this.#exchanges.values()].map(({ name, spec }) => Object.freeze({ name, spec }));
    return makePlan(exchanges, this.#queues.values(), this.#bindings.values());
  }

  toString(): string {
    try {
      return this.plan().toString();
    } catch (error) {
      return `Topology: invalid: ${error instanceof Error ? error.message : String(error)}`;
    }
  }

  /** An exchange that comes with a queue; one that the caller describes stays as described. */
  #imply(name: string): void {
    if (this.#exchanges.has(name)) return;
    this.#exchanges.set(name, Object.freeze({ name, spec: MANAGED_EXCHANGE, implied: true }));
  }

  #bind(binding: PlannedBinding): void {
    this.#bindings.set(JSON.stringify([binding.queue, binding.exchange, binding.routingKey]), binding);
  }
}

function planQueue(name: string, options: QueueOptions): PlannedQueue {
  checkQueueName(name);
  checkOptions(options, QUEUE_OPTIONS, `the queue ${shown(name)}`);
  if (options.retry !== undefined && !(options.retry instanceof RetryPolicy)) {
    throw new ConfigurationError(
      `retry of the queue ${shown(name)} must be a RetryPolicy, such as fixed(5, '10s'), not ${shown(options.retry)}`,
    );
  }
  const durable = flag(options.durable, true, 'durable');
  const autoDelete = flag(options.autoDelete, false, 'autoDelete');
  const exclusive = flag(options.exclusive, false, 'exclusive');
  const args = table(options.arguments);
  const type = typeOf(name, options.type, args['x-queue-type'], durable && !autoDelete && !exclusive);
  if (type !== 'classic') args['x-queue-type'] = type;
  if (wantsDeadLetter(options) || options.retry !== undefined) {
    if (type === 'stream') {
      throw new TopologyError(
        `the stream ${shown(name)} cannot have deadLetter or retry: a stream keeps every message`,
      );
    }
  }
  if (wantsDeadLetter(options)) {
    for (const argument of ['x-dead-letter-exchange', 'x-dead-letter-routing-key']) {
      if (args[argument] === undefined) continue;
      throw new TopologyError(
        `the queue ${shown(name)} has both deadLetter and the argument ${argument} (${shown(args[argument])}); ` +
          'give deadLetter: false to keep the argument',
      );
    }
    args['x-dead-letter-exchange'] = DEAD_LETTER_EXCHANGE;
    args['x-dead-letter-routing-key'] = deadLetterQueueName(name);
  }
  const spec = Object.freeze({ durable, autoDelete, exclusive, arguments: Object.freeze(args) });
  return Object.freeze({ name, spec, type });
}

function typeOf(name: string, given: unknown, argument: unknown, lasting: boolean): QueueType {
  for (const type of [given, argument]) {
    if (type !== undefined && !QUEUE_TYPES.includes(type as QueueType)) {
      throw new ConfigurationError(
        `the type of the queue ${shown(name)} must be one of ${QUEUE_TYPES.join(', ')}, not ${shown(type)}`,
      );
    }
  }
  if (given !== undefined && argument !== undefined && given !== argument) {
    throw new TopologyError(
      `the queue ${shown(name)} has the type ${String(given)}, and the argument x-queue-type says ${String(argument)}`,
    );
  }
  const type = (given ?? argument ?? (lasting ? 'quorum' : 'classic')) as QueueType;
  if (type !== 'classic' && !lasting) {
    throw new TopologyError(
      `the queue ${shown(name)} cannot be of type ${type}: an exclusive, auto-delete or transient queue is classic`,
    );
  }
  return type;
}

function wantsDeadLetter(options: QueueOptions): boolean {
  return flag(options.deadLetter, options.retry !== undefined, 'deadLetter');
}

function flag(value: unknown, byDefault: boolean, option: string): boolean {
  if (value === undefined) return byDefault;
  if (typeof value !== 'boolean')
    throw new ConfigurationError(`${option} must be true or false, not ${shown(value)}`);
  return value;
}

function table(given: unknown): HeaderTable {
  if (given === undefined) return {};
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new ConfigurationError(`arguments must be an object, not ${shown(given)}`);
  }
  return { ...(given as HeaderTable) };
}

function isManaged(name: string): boolean {
  return name === DEAD_LETTER_EXCHANGE || name === RETRY_EXCHANGE;
}
