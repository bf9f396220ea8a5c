import {
  DEAD_LETTER_EXCHANGE,
  DEFAULT_BROKER_WAIT_THRESHOLD,
  deadLetterQueueName,
  exponential,
  parkedQueueName,
  RETRY_EXCHANGE,
  RetryLadder,
  type RetryPolicy,
  retryQueueName,
} from '@acemq/core';
import { queueTypeDefaults, topologyFixture } from './contract-topology.ts';
import { POLICIES, policyNamed } from './policies.ts';

const QUEUE = 'orders.new';
const YEAR = 365 * 24 * 60 * 60 * 1000;
const NAMED_DELAYS = [500, 1_000, 30_000, 90_000, 300_000, 7_200_000];
const THRESHOLDS = [30_000, 60_000, 0];
const DELAYS_AROUND_THRESHOLDS = [0, 1, 500, 1_000, 29_999, 30_000, 30_001, 60_000, 90_000, 300_000];
const AGE_LIMITS = [0, 120_000];
const AGES_AROUND_LIMIT = [0, 119_999, 120_000, 120_001, YEAR];
const JITTERED = 'exponential-uncapped';

/** The two ends of what a random number generator gives: 0, and the largest number below 1. */
const LEAST = (): number => 0;
const MOST = (): number => 1 - Number.EPSILON / 2;

/** The retry schedules, the names and the topology, in the schema of the family's own file. */
export function contractFixtures(): object {
  return {
    generatedBy: 'acemq-typescript',
    contract: 'The retry schedules, queue names and topology that every AceMQ library agrees on.',
    defaultBrokerWaitThresholdMillis: DEFAULT_BROKER_WAIT_THRESHOLD,
    deadLetterExchange: DEAD_LETTER_EXCHANGE,
    retryExchange: RETRY_EXCHANGE,
    retrySchedules: [...POLICIES].map(([name, policy]) => retrySchedule(name, policy)),
    maxMessageAge: maxMessageAge(),
    jitter: jitter(),
    brokerWaitThreshold: brokerWaitThreshold(),
    naming: {
      queue: QUEUE,
      deadLetterQueue: deadLetterQueueName(QUEUE),
      parkedQueue: parkedQueueName(QUEUE),
      retryQueues: NAMED_DELAYS.map((delayMillis) => ({
        delayMillis,
        queue: retryQueueName(QUEUE, delayMillis),
      })),
      subSecondDisagreement:
        'A delay that is no whole number of seconds is named in milliseconds here, as in Java. Libraries that cut it to ' +
        'whole seconds name another queue.',
    },
    rungArguments: NAMED_DELAYS.map((delayMillis) => ({
      queue: retryQueueName(QUEUE, delayMillis),
      delayMillis,
      arguments: RetryLadder.argumentsFor(QUEUE, delayMillis),
    })),
    topology: topologyFixture(QUEUE),
    queueTypeDefaults: queueTypeDefaults(QUEUE),
  };
}

function retrySchedule(name: string, policy: RetryPolicy): object {
  const { maxAttempts, maxAge } = policy;
  const attempts = [...new Set([1, maxAttempts - 1, maxAttempts])].filter((attempt) => attempt >= 1);
  const ages = maxAge > 0 ? [0, maxAge - 1, maxAge] : [0, YEAR];
  return {
    name,
    how: String(policy),
    maxAttempts,
    maxMessageAgeMillis: maxAge,
    hasMaxMessageAge: maxAge > 0,
    jitterFactor: policy.jitter,
    brokerWaitThresholdMillis: policy.threshold,
    scheduleMillis: policy.schedule(),
    brokerRungDelaysMillis: RetryLadder.for(QUEUE, policy).rungs.map(({ delay }) => delay),
    decisions: attempts.flatMap((attempt) =>
      ages.map((messageAgeMillis) => ({
        attempt,
        messageAgeMillis,
        retries: policy.nextWait(attempt, messageAgeMillis, LEAST) !== undefined,
      })),
    ),
  };
}

function maxMessageAge(): object {
  const unlimited = policyNamed(JITTERED);
  const limited = (limit: number): RetryPolicy => unlimited.giveUpAfter(limit);
  return {
    defaultMillis: unlimited.maxAge,
    zeroMeansNoLimit: limited(0).nextWait(1, YEAR, LEAST) !== undefined,
    rule:
      'A message is given up when its age reaches the limit: an age equal to it does not retry. 0 is no limit, and the ' +
      'default of every policy. A message of unknown age is young enough.',
    unknownAgeRetries: limited(1).nextWait(1, undefined, LEAST) !== undefined,
    cases: AGE_LIMITS.flatMap((maxMessageAgeMillis) =>
      AGES_AROUND_LIMIT.map((messageAgeMillis) => ({
        maxMessageAgeMillis,
        messageAgeMillis,
        retries: limited(maxMessageAgeMillis).nextWait(1, messageAgeMillis, LEAST) !== undefined,
      })),
    ),
  };
}

/** The shortest and the longest wait that a policy can give after the first attempt. */
function extremes(policy: RetryPolicy): readonly [least: number, most: number] {
  const wait = (random: () => number): number => policy.nextWait(1, 0, random)?.delay ?? Number.NaN;
  return [wait(LEAST), wait(MOST)];
}

function jitter(): object {
  const policy = policyNamed(JITTERED);
  const scheduled = policy.delayFor(1);
  const [least, most] = extremes(policy);
  const [leastInBroker, mostInBroker] = extremes(policy.waitInBrokerFrom(scheduled));
  const [floor] = extremes(exponential(2, 1, 1).withJitter(1));
  return {
    policy: JITTERED,
    factor: policy.jitter,
    appliesInBothDirections: least < scheduled && most > scheduled,
    minMultiplier: least / scheduled,
    maxMultiplier: most / scheduled,
    appliesToConsumerWaits: least !== most,
    appliesToBrokerWaits: leastInBroker !== mostInBroker,
    flooredAtMillis: floor,
    howToAssert:
      'A wait in the consumer lies between delay * minMultiplier and delay * maxMultiplier, and is never below ' +
      'flooredAtMillis. A wait in the broker is the scheduled delay exactly, since it names a queue.',
  };
}

function brokerWaitThreshold(): object {
  return {
    defaultMillis: DEFAULT_BROKER_WAIT_THRESHOLD,
    rule:
      'A delay of at least the threshold waits in a rung queue; a shorter one, and one of 0 or less, in the consumer. A ' +
      'threshold of 0 sends none to the broker.',
    cases: THRESHOLDS.flatMap((thresholdMillis) =>
      DELAYS_AROUND_THRESHOLDS.map((delayMillis) => ({
        thresholdMillis,
        delayMillis,
        waitsInBroker: RetryLadder.waitsInBroker(delayMillis, thresholdMillis),
      })),
    ),
  };
}
