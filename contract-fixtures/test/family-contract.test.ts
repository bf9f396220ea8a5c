import {
  createEnvelope,
  DEAD_LETTER_EXCHANGE,
  DEFAULT_BROKER_WAIT_THRESHOLD,
  type DeclaredBy,
  deadLetterQueueName,
  type HeaderTable,
  none,
  OUTCOME_DEAD_LETTERED,
  OUTCOME_RETRIED,
  parkedQueueName,
  RETRY_EXCHANGE,
  RetryLadder,
  type RetryPolicy,
  retry,
  retryQueueName,
  settle,
} from '@acemq/core';
import { describe, expect, it } from 'vitest';
import { contractFixtures } from '../src/contract.ts';
import { argumentsWithoutType, declaredTopology, queueTypes } from '../src/contract-topology.ts';
import { policyNamed, TOPOLOGY_POLICY } from '../src/policies.ts';
import { describeFamily } from './family.ts';

interface Schedule {
  readonly name: string;
  readonly maxAttempts: number;
  readonly maxMessageAgeMillis: number;
  readonly hasMaxMessageAge: boolean;
  readonly jitterFactor: number;
  readonly brokerWaitThresholdMillis: number;
  readonly scheduleMillis: readonly number[];
  readonly brokerRungDelaysMillis: readonly number[];
  readonly decisions: readonly {
    readonly attempt: number;
    readonly messageAgeMillis: number;
    readonly retries: boolean;
  }[];
}

interface Declared {
  readonly durable: boolean;
  readonly name: string;
  readonly type: string;
  readonly declaredBy: DeclaredBy;
}

interface Contract {
  readonly defaultBrokerWaitThresholdMillis: number;
  readonly deadLetterExchange: string;
  readonly retryExchange: string;
  readonly retrySchedules: readonly Schedule[];
  readonly maxMessageAge: {
    readonly defaultMillis: number;
    readonly zeroMeansNoLimit: boolean;
    readonly unknownAgeRetries: boolean;
    readonly cases: readonly {
      readonly maxMessageAgeMillis: number;
      readonly messageAgeMillis: number;
      readonly retries: boolean;
    }[];
  };
  readonly jitter: {
    readonly policy: string;
    readonly factor: number;
    readonly appliesInBothDirections: boolean;
    readonly minMultiplier: number;
    readonly maxMultiplier: number;
    readonly appliesToConsumerWaits: boolean;
    readonly appliesToBrokerWaits: boolean;
    readonly flooredAtMillis: number;
  };
  readonly brokerWaitThreshold: {
    readonly defaultMillis: number;
    readonly cases: readonly {
      readonly thresholdMillis: number;
      readonly delayMillis: number;
      readonly waitsInBroker: boolean;
    }[];
  };
  readonly naming: {
    readonly queue: string;
    readonly deadLetterQueue: string;
    readonly parkedQueue: string;
    readonly retryQueues: readonly { readonly delayMillis: number; readonly queue: string }[];
  };
  readonly rungArguments: readonly {
    readonly queue: string;
    readonly delayMillis: number;
    readonly arguments: HeaderTable;
  }[];
  readonly topology: {
    readonly sourceQueue: string;
    readonly policyScheduleMillis: readonly number[];
    readonly policyRungDelaysMillis: readonly number[];
    readonly exchanges: readonly Declared[];
    readonly queues: readonly (Declared & { readonly arguments: HeaderTable })[];
    readonly bindings: readonly {
      readonly queue: string;
      readonly exchange: string;
      readonly routingKey: string;
      readonly declaredBy: DeclaredBy;
    }[];
  };
  readonly queueTypeDefaults: Readonly<Record<string, string>> & {
    readonly durability: { readonly everyDeclaredQueueIsDurable: boolean };
  };
}

const NOW = Date.UTC(2026, 0, 2);
const HALF = (): number => 0.5;

/** What the consumer decides about a message whose handler asks for another attempt. */
function outcomeOf(policy: RetryPolicy, attempt: number, age: number): string {
  const envelope = createEnvelope({ attempt, firstSeen: NOW - age }, { routingKey: 'k', now: NOW });
  return settle(retry(new Error('no stock')), envelope, policy, NOW, HALF).outcome;
}

function decides(policy: RetryPolicy, attempt: number, age: number, retries: boolean): void {
  expect(policy.nextWait(attempt, age, HALF) !== undefined).toBe(retries);
  expect(outcomeOf(policy, attempt, age)).toBe(retries ? OUTCOME_RETRIED : OUTCOME_DEAD_LETTERED);
}

describeFamily<Contract>('contract-fixtures.json', (family) => {
  it.each([
    ['deadLetterExchange', DEAD_LETTER_EXCHANGE, family.deadLetterExchange],
    ['retryExchange', RETRY_EXCHANGE, family.retryExchange],
    [
      'defaultBrokerWaitThresholdMillis',
      DEFAULT_BROKER_WAIT_THRESHOLD,
      family.defaultBrokerWaitThresholdMillis,
    ],
  ])('has our %s', (_name, ours, theirs) => {
    expect(ours).toBe(theirs);
  });

  describe.each(family.retrySchedules)('retry schedule $name', (schedule) => {
    const policy = policyNamed(schedule.name);

    it('is ours', () => {
      expect({
        maxAttempts: policy.maxAttempts,
        maxMessageAgeMillis: policy.maxAge,
        hasMaxMessageAge: policy.maxAge > 0,
        jitterFactor: policy.jitter,
        brokerWaitThresholdMillis: policy.threshold,
        scheduleMillis: policy.schedule(),
        brokerRungDelaysMillis: RetryLadder.for('orders.new', policy).rungs.map(({ delay }) => delay),
      }).toEqual({
        maxAttempts: schedule.maxAttempts,
        maxMessageAgeMillis: schedule.maxMessageAgeMillis,
        hasMaxMessageAge: schedule.hasMaxMessageAge,
        jitterFactor: schedule.jitterFactor,
        brokerWaitThresholdMillis: schedule.brokerWaitThresholdMillis,
        scheduleMillis: schedule.scheduleMillis,
        brokerRungDelaysMillis: schedule.brokerRungDelaysMillis,
      });
    });

    it.each(schedule.decisions)('at attempt $attempt, $messageAgeMillis ms old: $retries', (decision) => {
      decides(policy, decision.attempt, decision.messageAgeMillis, decision.retries);
    });
  });

  describe('age limit', () => {
    const { cases, defaultMillis, unknownAgeRetries, zeroMeansNoLimit } = family.maxMessageAge;
    const policy = policyNamed('exponential-uncapped');

    it('has our default', () => {
      for (const name of ['exponential-uncapped', 'fixed', 'none']) {
        expect(policyNamed(name).maxAge).toBe(defaultMillis);
      }
    });

    it('of 0 is none', () => {
      expect(policy.giveUpAfter(0).nextWait(1, Number.MAX_SAFE_INTEGER, HALF) !== undefined).toBe(
        zeroMeansNoLimit,
      );
    });

    it('leaves a message of unknown age its attempts', () => {
      expect(policy.giveUpAfter(1).nextWait(1, undefined, HALF) !== undefined).toBe(unknownAgeRetries);
    });

    it.each(cases)('of $maxMessageAgeMillis ms at $messageAgeMillis ms: $retries', (theCase) => {
      decides(policy.giveUpAfter(theCase.maxMessageAgeMillis), 1, theCase.messageAgeMillis, theCase.retries);
    });
  });

  describe('jitter', () => {
    const { jitter } = family;
    const policy = policyNamed(jitter.policy);
    const randoms = [0, 0.1, 0.25, 0.5, 0.75, 0.9, 1 - Number.EPSILON / 2];
    const waits = (of: RetryPolicy, attempt: number): readonly number[] =>
      randoms.map((random) => of.nextWait(attempt, 0, () => random)?.delay ?? Number.NaN);

    it('has the factor of the policy', () => {
      expect(policy.jitter).toBe(jitter.factor);
    });

    it('goes in both directions', () => {
      const scheduled = policy.delayFor(1);
      const both =
        waits(policy, 1).some((wait) => wait < scheduled) &&
        waits(policy, 1).some((wait) => wait > scheduled);
      expect(both).toBe(jitter.appliesInBothDirections);
    });

    it('reaches its bounds, and stays between them, at every attempt', () => {
      for (let attempt = 1; attempt < policy.maxAttempts; attempt += 1) {
        const scheduled = policy.delayFor(attempt);
        expect(Math.min(...waits(policy, attempt)) / scheduled).toBeCloseTo(jitter.minMultiplier, 9);
        expect(Math.max(...waits(policy, attempt)) / scheduled).toBeCloseTo(jitter.maxMultiplier, 9);
      }
    });

    it('is for waits in the consumer', () => {
      expect(new Set(waits(policy, 1)).size > 1).toBe(jitter.appliesToConsumerWaits);
    });

    it('is not for waits in the broker', () => {
      expect(new Set(waits(policy.waitInBrokerFrom('1s'), 1)).size > 1).toBe(jitter.appliesToBrokerWaits);
    });

    it('never makes a wait shorter than the floor', () => {
      const short = policyNamed('exponential-uncapped').withJitter(1);
      expect(Math.min(...waits(short, 1))).toBe(jitter.flooredAtMillis);
    });
  });

  describe('broker-wait threshold', () => {
    const { cases, defaultMillis } = family.brokerWaitThreshold;

    it('has our default', () => {
      expect([RetryLadder.DEFAULT_THRESHOLD, none().threshold]).toEqual([defaultMillis, defaultMillis]);
    });

    it.each(cases)('of $thresholdMillis ms, for $delayMillis ms: $waitsInBroker', (theCase) => {
      const { delayMillis, thresholdMillis, waitsInBroker } = theCase;
      expect(RetryLadder.waitsInBroker(delayMillis, thresholdMillis)).toBe(waitsInBroker);
    });
  });

  describe('names', () => {
    const { deadLetterQueue, parkedQueue, queue, retryQueues } = family.naming;

    it('of the dead-letter queue', () => {
      expect(deadLetterQueueName(queue)).toBe(deadLetterQueue);
    });

    it('of the parked queue', () => {
      expect(parkedQueueName(queue)).toBe(parkedQueue);
    });

    it.each(retryQueues)('of the rung for $delayMillis ms: $queue', (rung) => {
      expect(retryQueueName(queue, rung.delayMillis)).toBe(rung.queue);
    });
  });

  it.each(family.rungArguments)('arguments of the rung $queue', ({ arguments: theirs, delayMillis }) => {
    expect(RetryLadder.argumentsFor(family.naming.queue, delayMillis)).toEqual(theirs);
  });

  describe('topology', () => {
    const { bindings, exchanges, policyRungDelaysMillis, policyScheduleMillis, queues, sourceQueue } =
      family.topology;
    const ours = declaredTopology(sourceQueue);

    it('has the policy of ours', () => {
      expect(TOPOLOGY_POLICY.schedule()).toEqual(policyScheduleMillis);
      expect(RetryLadder.for(sourceQueue, TOPOLOGY_POLICY).rungs.map(({ delay }) => delay)).toEqual(
        policyRungDelaysMillis,
      );
    });

    it.each(exchanges)('exchange $name, declared by $declaredBy', (theirs) => {
      const found = ours.exchanges.filter(({ name }) => name === theirs.name);
      expect(
        found.map(({ name, spec, declaredBy }) => ({
          name,
          type: spec.type,
          durable: spec.durable,
          declaredBy,
        })),
      ).toEqual([theirs]);
    });

    it.each(queues)('queue $name, declared by $declaredBy', (theirs) => {
      const found = ours.queues.filter(({ name }) => name === theirs.name);
      expect(
        found.map((planned) => ({
          name: planned.name,
          type: planned.type,
          durable: planned.spec.durable,
          arguments: argumentsWithoutType(planned),
          declaredBy: planned.declaredBy,
        })),
      ).toEqual([theirs]);
    });

    it.each(bindings)('binding of $queue to $exchange, declared by $declaredBy', (theirs) => {
      const found = ours.bindings.filter(
        ({ exchange, queue }) => exchange === theirs.exchange && queue === theirs.queue,
      );
      expect(found).toEqual([theirs]);
    });

    it('declares nothing else', () => {
      expect([ours.exchanges.length, ours.queues.length, ours.bindings.length]).toEqual([
        exchanges.length,
        queues.length,
        bindings.length,
      ]);
    });
  });

  describe('queue type', () => {
    const { durability, ...types } = family.queueTypeDefaults;

    it.each(Object.entries(types))('of %s is %s', (what, type) => {
      expect(queueTypes('orders.new')[what]).toBe(type);
    });

    it('is of a durable queue, all of them', () => {
      expect(declaredTopology('orders.new').queues.every(({ spec }) => spec.durable)).toBe(
        durability.everyDeclaredQueueIsDurable,
      );
    });
  });

  it('is ours in every field that is no prose', () => {
    expect(withoutProse(contractFixtures())).toEqual(withoutProse(family));
  });
});

const PROSE = [
  'generatedBy',
  'contract',
  'how',
  'howToAssert',
  'rule',
  'notes',
  'subSecondDisagreement',
  'exclusiveAutoDeleteOrTransient',
];

function withoutProse(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (name, inner: unknown) => (PROSE.includes(name) ? undefined : inner)),
  );
}
