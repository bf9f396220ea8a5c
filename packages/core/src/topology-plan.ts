import { TopologyError } from './errors.ts';
import type { HeaderTable } from './headers.ts';
import { CLASSIC_DURABLE, MANAGED_EXCHANGE } from './managed-topology.ts';
import { DEAD_LETTER_EXCHANGE, deadLetterQueueName, parkedQueueName, RETRY_EXCHANGE } from './naming.ts';
import { RetryLadder } from './retry-ladder.ts';
import type { RetryPolicy } from './retry-policy.ts';
import type { DeclareTarget, ExchangeSpec, QueueSpec } from './transport.ts';

/** The kinds of queue that RabbitMQ has. */
export type QueueType = 'quorum' | 'classic' | 'stream';

/** An exchange that a plan declares. */
export interface PlannedExchange {
  readonly name: string;
  readonly spec: ExchangeSpec;
}

/** A queue that a plan declares. */
export interface PlannedQueue {
  readonly name: string;
  readonly spec: QueueSpec;
  /** What kind it is; in `spec`, `x-queue-type` says so for all but a classic one. */
  readonly type: QueueType;
}

/** A binding that a plan makes. */
export interface PlannedBinding {
  readonly queue: string;
  readonly exchange: string;
  readonly routingKey: string;
}

/**
 * What is to be declared, in order: exchanges, then queues, then bindings. Plain data, frozen; no broker was
 * asked.
 */
export interface TopologyPlan {
  readonly exchanges: readonly PlannedExchange[];
  readonly queues: readonly PlannedQueue[];
  readonly bindings: readonly PlannedBinding[];
  /** A line that counts, and one line for each of them. */
  toString(): string;
}

/** A {@link TopologyPlan} of what it is given. */
export function makePlan(
  exchanges: Iterable<PlannedExchange>,
  queues: Iterable<PlannedQueue>,
  bindings: Iterable<PlannedBinding>,
): TopologyPlan {
  return new Plan(exchanges, queues, bindings);
}

/** The dead-letter and the parked queue of a queue. */
export function setAsideQueues(queue: string): readonly PlannedQueue[] {
  return [deadLetterQueueName(queue), parkedQueueName(queue)].map((name) =>
    Object.freeze({ name, spec: CLASSIC_DURABLE, type: 'classic' }),
  );
}

/** The bindings of the dead-letter and the parked queue of a queue, on their own names. */
export function setAsideBindings(queue: string): readonly PlannedBinding[] {
  return [deadLetterQueueName(queue), parkedQueueName(queue)].map((name) =>
    Object.freeze({ queue: name, exchange: DEAD_LETTER_EXCHANGE, routingKey: name }),
  );
}

/** The queues of a ladder's rungs. */
export function rungQueues(ladder: RetryLadder): readonly PlannedQueue[] {
  return ladder.rungs.map((rung) =>
    Object.freeze({
      name: rung.queue,
      spec: Object.freeze({ ...CLASSIC_DURABLE, arguments: rung.arguments }),
      type: 'classic',
    }),
  );
}

/** The binding that brings expired messages home from the rungs of a queue. */
export function homeBinding(queue: string): PlannedBinding {
  return Object.freeze({ queue, exchange: RETRY_EXCHANGE, routingKey: queue });
}

/**
 * What a consumer of a queue declares before it subscribes: `acemq.dlx`, the dead-letter and parked queues
 * and their bindings; with a policy that has rungs, `acemq.retry`, the rungs and the home binding besides.
 * Never the queue itself, to which the home binding refers.
 *
 * @throws `ConfigurationError` for a blank queue, or one whose derived names would pass 255 bytes.
 */
export function consumerPlan(queue: string, policy: RetryPolicy): TopologyPlan {
  const ladder = RetryLadder.for(queue, policy);
  const exchanges = ladder.isEmpty ? [DEAD_LETTER_EXCHANGE] : [RETRY_EXCHANGE, DEAD_LETTER_EXCHANGE];
  return makePlan(
    exchanges.map((name) => Object.freeze({ name, spec: MANAGED_EXCHANGE })),
    [...rungQueues(ladder), ...setAsideQueues(queue)],
    [...(ladder.isEmpty ? [] : [homeBinding(queue)]), ...setAsideBindings(queue)],
  );
}

/**
 * Declares a plan: exchanges, queues, bindings, one after the other, stopping at the first that the target
 * refuses. To declare it again changes nothing. Resolves when all is declared; rejects with what the target
 * rejected with.
 */
export async function declarePlan(plan: TopologyPlan, target: DeclareTarget): Promise<void> {
  for (const { name, spec } of plan.exchanges) await target.declareExchange(name, spec);
  for (const { name, spec } of plan.queues) await target.declareQueue(name, spec);
  for (const { queue, exchange, routingKey } of plan.bindings) await target.bind(queue, exchange, routingKey);
}

/** Which of two plans declares something. */
export type DeclaredBy = 'topology' | 'consumer' | 'both';

/** Everything that two plans declare, each thing once, with who declares it. */
export interface DeclaredTopology {
  readonly exchanges: readonly (PlannedExchange & { readonly declaredBy: DeclaredBy })[];
  readonly queues: readonly (PlannedQueue & { readonly declaredBy: DeclaredBy })[];
  readonly bindings: readonly (PlannedBinding & { readonly declaredBy: DeclaredBy })[];
}

/**
 * Puts a topology's plan and a consumer's together: what each declares, in the topology's order, then what
 * only the consumer does.
 *
 * @throws `TopologyError` where both declare a name differently: the broker would refuse the second of them.
 */
export function declaredBy(topology: TopologyPlan, consumer: TopologyPlan): DeclaredTopology {
  return Object.freeze({
    exchanges: joined(topology.exchanges, consumer.exchanges, (item) => item.name),
    queues: joined(topology.queues, consumer.queues, (item) => item.name),
    bindings: joined(topology.bindings, consumer.bindings, (item) =>
      JSON.stringify([item.queue, item.exchange, item.routingKey]),
    ),
  });
}

function joined<T extends object>(
  topology: readonly T[],
  consumer: readonly T[],
  keyOf: (item: T) => string,
): readonly (T & { readonly declaredBy: DeclaredBy })[] {
  const consumers = new Map(consumer.map((item) => [keyOf(item), item]));
  const items: (T & { readonly declaredBy: DeclaredBy })[] = [];
  for (const item of topology) {
    const key = keyOf(item);
    const other = consumers.get(key);
    consumers.delete(key);
    if (other !== undefined && signature(other) !== signature(item)) {
      throw new TopologyError(
        `the topology and the consumer declare ${key} differently: ${signature(item)} and ${signature(other)}`,
      );
    }
    items.push(Object.freeze({ ...item, declaredBy: other === undefined ? 'topology' : 'both' }));
  }
  for (const item of consumers.values()) items.push(Object.freeze({ ...item, declaredBy: 'consumer' }));
  return Object.freeze(items);
}

/** Equal text for equal things, whatever the order of their arguments. */
function signature(item: object): string {
  return JSON.stringify(item, (_name, value: unknown) => {
    if (typeof value === 'bigint') return Number(value);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

class Plan implements TopologyPlan {
  readonly exchanges: readonly PlannedExchange[];
  readonly queues: readonly PlannedQueue[];
  readonly bindings: readonly PlannedBinding[];

  constructor(
    exchanges: Iterable<PlannedExchange>,
    queues: Iterable<PlannedQueue>,
    bindings: Iterable<PlannedBinding>,
  ) {
    this.exchanges = Object.freeze([...exchanges]);
    this.queues = Object.freeze([...queues]);
    this.bindings = Object.freeze([...bindings]);
    Object.freeze(this);
  }

  toString(): string {
    const counts = [
      counted(this.exchanges.length, 'exchange'),
      counted(this.queues.length, 'queue'),
      counted(this.bindings.length, 'binding'),
    ];
    const lines = [`Topology: ${counts.join(', ')}`];
    for (const { name, spec } of this.exchanges) {
      lines.push(
        `  declare exchange ${name} (${[spec.type, ...flags(spec), ...args(spec.arguments)].join(', ')})`,
      );
    }
    for (const { name, spec, type } of this.queues) {
      const traits = [type, ...flags(spec), ...args(spec.arguments, 'x-queue-type')];
      lines.push(`  declare queue ${name} (${traits.join(', ')})`);
    }
    for (const { queue, exchange, routingKey } of this.bindings) {
      lines.push(`  bind ${queue} to ${exchange} on ${JSON.stringify(routingKey)}`);
    }
    return lines.join('\n');
  }
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

function flags(spec: ExchangeSpec | QueueSpec): string[] {
  const words = [spec.durable ? 'durable' : 'transient'];
  if (spec.autoDelete) words.push('auto-delete');
  if ('exclusive' in spec && spec.exclusive) words.push('exclusive');
  return words;
}

function args(table: Readonly<HeaderTable>, except?: string): string[] {
  return Object.entries(table)
    .filter(([name]) => name !== except)
    .map(([name, value]) => `${name}=${typeof value === 'object' && value !== null ? '…' : String(value)}`);
}
