import {
  consumerPlan,
  type DeclaredTopology,
  deadLetterQueueName,
  declaredBy,
  type HeaderTable,
  type PlannedQueue,
  parkedQueueName,
  type QueueOptions,
  RetryLadder,
  type TopologyPlan,
  topology,
} from '@acemq/core';
import { TOPOLOGY_POLICY } from './policies.ts';

/** What the contract's topology and a consumer of its queue declare between them. */
export function declaredTopology(queue: string): DeclaredTopology {
  const plan = topology()
    .exchange('orders', 'topic')
    .queue(queue, { deadLetter: true })
    .bind(queue, 'orders', 'order.*')
    .plan();
  return declaredBy(plan, consumerPlan(queue, TOPOLOGY_POLICY));
}

/** The arguments of a queue but for its type, which the contract has a field for. */
export function argumentsWithoutType(queue: PlannedQueue): HeaderTable {
  const { 'x-queue-type': _type, ...others } = queue.spec.arguments;
  return others;
}

export function topologyFixture(queue: string): object {
  const declared = declaredTopology(queue);
  return {
    sourceQueue: queue,
    policy: `${TOPOLOGY_POLICY} at the default threshold`,
    policyScheduleMillis: TOPOLOGY_POLICY.schedule(),
    policyRungDelaysMillis: RetryLadder.for(queue, TOPOLOGY_POLICY).rungs.map(({ delay }) => delay),
    exchanges: declared.exchanges.map(({ name, spec, declaredBy }) => ({
      name,
      type: spec.type,
      durable: spec.durable,
      declaredBy,
    })),
    queues: declared.queues.map((planned) => ({
      name: planned.name,
      type: planned.type,
      durable: planned.spec.durable,
      arguments: argumentsWithoutType(planned),
      declaredBy: planned.declaredBy,
    })),
    bindings: declared.bindings.map(({ queue: bound, exchange, routingKey, declaredBy }) => ({
      queue: bound,
      exchange,
      routingKey,
      declaredBy,
    })),
  };
}

function planOf(queue: string, options: QueueOptions): TopologyPlan {
  return topology().queue(queue, options).plan();
}

function typeOf(plan: TopologyPlan, queue: string): string {
  const planned = plan.queues.find(({ name }) => name === queue);
  if (planned === undefined) throw new Error(`${queue} is not part of\n${plan}`);
  return planned.type;
}

/** The types that queues have where nobody says more, by what the contract calls each. */
export function queueTypes(queue: string): Readonly<Record<string, string>> {
  const deadLettering = planOf(queue, { deadLetter: true });
  const retrying = planOf(queue, { retry: TOPOLOGY_POLICY });
  const [rung] = RetryLadder.for(queue, TOPOLOGY_POLICY).queues;
  return {
    sourceQueue: typeOf(planOf(queue, {}), queue),
    sourceQueueWithDeadLetter: typeOf(deadLettering, queue),
    explicitClassicQueue: typeOf(planOf(queue, { type: 'classic' }), queue),
    explicitClassicQueueWithDeadLetter: typeOf(planOf(queue, { type: 'classic', deadLetter: true }), queue),
    deadLetterQueue: typeOf(deadLettering, deadLetterQueueName(queue)),
    parkedQueue: typeOf(deadLettering, parkedQueueName(queue)),
    retryRung: typeOf(retrying, rung ?? ''),
  };
}

export function queueTypeDefaults(queue: string): object {
  const passing = [{ exclusive: true }, { autoDelete: true }, { durable: false }];
  const passingTypes = new Set(passing.map((options) => typeOf(planOf(queue, options), queue)));
  return {
    ...queueTypes(queue),
    durability: {
      everyDeclaredQueueIsDurable: declaredTopology(queue).queues.every(({ spec }) => spec.durable),
      exclusiveAutoDeleteOrTransient: [...passingTypes].join(' or '),
    },
  };
}
