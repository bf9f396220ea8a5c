import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exponential, fixed, LONGEST_DELAY, none, RetryLadder, Rung } from '../src/index.ts';
import { recordingTarget } from './recording-target.ts';
import { expectRefusal } from './refusal.ts';

const policy = exponential(6, '10s', '5m');
const ladder = RetryLadder.for('orders.new', policy);

const managed = { type: 'direct', durable: true, autoDelete: false, arguments: {} };
const classic = { durable: true, autoDelete: false, exclusive: false, arguments: {} };
const deadLetters = [
  ['exchange', 'acemq.dlx', managed],
  ['queue', 'orders.new.dlq', classic],
  ['bind', 'orders.new.dlq', 'acemq.dlx', 'orders.new.dlq'],
  ['queue', 'orders.new.parked', classic],
  ['bind', 'orders.new.parked', 'acemq.dlx', 'orders.new.parked'],
];

describe('a ladder', () => {
  it('has a rung for each delay that waits in the broker, and no other', () => {
    expect(ladder.source).toBe('orders.new');
    expect(ladder.threshold).toBe(30_000);
    expect(ladder.isEmpty).toBe(false);
    expect(ladder.queues).toEqual(['orders.new.retry.40s', 'orders.new.retry.80s', 'orders.new.retry.160s']);
    expect(ladder.rungs.map((rung) => rung.delay)).toEqual([40_000, 80_000, 160_000]);
    expect(ladder.rungs[0]).toBeInstanceOf(Rung);
    expect(ladder.rungs[0]?.arguments).toEqual({
      'x-message-ttl': 40_000,
      'x-dead-letter-exchange': 'acemq.retry',
      'x-dead-letter-routing-key': 'orders.new',
    });
  });

  it('has one rung for a delay that comes more than once', () => {
    expect(RetryLadder.for('q', fixed(5, '30s')).queues).toEqual(['q.retry.30s']);
  });

  it('has none for a policy without retries, or with short ones', () => {
    for (const short of [none(), exponential(4, '1s', '4s')]) {
      const empty = RetryLadder.for('orders.new', short);
      expect(empty.isEmpty).toBe(true);
      expect(empty.rungs).toEqual([]);
      expect(empty.rungFor('1h')).toBeUndefined();
      expect(String(empty)).toBe('no retry rungs for orders.new');
    }
  });

  it('goes by the policy’s threshold, unless it is given another', () => {
    expect(RetryLadder.DEFAULT_THRESHOLD).toBe(30_000);
    expect(RetryLadder.for('q', policy.waitInBrokerFrom('100s')).queues).toEqual(['q.retry.160s']);
    expect(RetryLadder.for('q', policy, { threshold: '100s' }).queues).toEqual(['q.retry.160s']);
    expect(RetryLadder.for('q', policy.waitInBrokerFrom('100s'), { threshold: '20s' }).queues).toHaveLength(
      4,
    );
    expect(RetryLadder.for('q', policy, { threshold: 0 }).isEmpty).toBe(true);
  });

  it('is frozen, all of it', () => {
    for (const part of [ladder, ladder.rungs, ladder.queues, ladder.rungs[0], ladder.rungs[0]?.arguments]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
  });

  it('prints its rungs', () => {
    expect(String(ladder)).toBe(
      'retry rungs for orders.new: orders.new.retry.40s, orders.new.retry.80s, orders.new.retry.160s',
    );
  });

  it('is refused for a blank source, a threshold that is none, and a source whose rungs’ names would be too long', () => {
    expectRefusal(() => RetryLadder.for(' ', policy), 'ACEMQ_CONFIGURATION', '" "');
    expectRefusal(
      () => RetryLadder.for('q', policy, { threshold: -1 }),
      'ACEMQ_CONFIGURATION',
      'threshold',
      '-1',
    );
    expectRefusal(() => RetryLadder.for('q'.repeat(248), policy), 'ACEMQ_CONFIGURATION', 'qqq', '255');
    expectRefusal(() => RetryLadder.for('q'.repeat(250), none()), 'ACEMQ_CONFIGURATION', '.parked', '255');
  });
});

describe('rungFor', () => {
  it.each([
    [40_000, 'orders.new.retry.40s'],
    ['80s', 'orders.new.retry.80s'],
    ['50s', 'orders.new.retry.80s'],
    [30_000, 'orders.new.retry.40s'],
    [40_000.5, 'orders.new.retry.80s'],
    ['5m', 'orders.new.retry.160s'],
    [29_999, undefined],
    [0, undefined],
    [-1, undefined],
    [Number.NaN, undefined],
  ] as const)('sends %s to %s', (delay, queue) => {
    expect(ladder.rungFor(delay)).toBe(queue);
  });

  it('takes the shortest rung that is long enough, or else the longest there is', () => {
    fc.assert(
      fc.property(fc.integer({ min: 30_000, max: 400_000 }), (delay) => {
        const rung = ladder.rungs.find(({ queue }) => queue === ladder.rungFor(delay));
        const longEnough = ladder.rungs.filter((other) => other.delay >= delay);
        expect(rung?.delay).toBe(
          longEnough.length === 0 ? 160_000 : Math.min(...longEnough.map((other) => other.delay)),
        );
      }),
    );
  });

  it('finds exactly the rung of every delay that its own policy gives', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 30 }),
        fc.nat({ max: 100_000 }),
        fc.nat({ max: 1e9 }),
        (n, initial, above) => {
          const other = exponential(n, initial, initial + above);
          const rungs = RetryLadder.for('q', other);
          for (let attempt = 1; attempt < n; attempt += 1) {
            const wait = other.nextWait(attempt, 0, () => 0.5);
            const rung = rungs.rungs.find((candidate) => candidate.delay === wait?.delay);
            expect(wait?.inBroker).toBe(rung !== undefined);
            expect(rungs.rungFor(wait?.delay ?? 0)).toBe(rung?.queue);
          }
        },
      ),
    );
  });
});

describe('argumentsFor', () => {
  it('refuses what the broker cannot time', () => {
    expect(RetryLadder.argumentsFor('q', LONGEST_DELAY)['x-message-ttl']).toBe(315_360_000_000);
    expectRefusal(
      () => RetryLadder.argumentsFor('q', LONGEST_DELAY + 1),
      'ACEMQ_CONFIGURATION',
      'delay',
      '315360000001',
    );
    expectRefusal(() => RetryLadder.argumentsFor('q', 1.5), 'ACEMQ_CONFIGURATION', 'delay', '1.5');
    expectRefusal(() => RetryLadder.argumentsFor('', 1000), 'ACEMQ_CONFIGURATION', '""');
  });
});

describe('RetryLadder.waitsInBroker', () => {
  it('takes durations', () => {
    expect(RetryLadder.waitsInBroker('30s', '30s')).toBe(true);
    expect(RetryLadder.waitsInBroker('29s', '30s')).toBe(false);
    expect(RetryLadder.waitsInBroker('1h', 0)).toBe(false);
  });
});

describe('declaring a ladder', () => {
  it('declares the retry exchange, the rungs, the way home, then the dead letters, one after the other', async () => {
    const { target, calls } = recordingTarget();
    expect(await ladder.declare(target)).toBe(ladder);
    expect(calls).toEqual([
      ['exchange', 'acemq.retry', managed],
      ...ladder.rungs.map((rung) => ['queue', rung.queue, { ...classic, arguments: rung.arguments }]),
      ['bind', 'orders.new', 'acemq.retry', 'orders.new'],
      ...deadLetters,
    ]);
  });

  it('declares the dead letters alone where there is no rung', async () => {
    const { target, calls } = recordingTarget();
    const empty = RetryLadder.for('orders.new', none());
    expect(await empty.declare(target)).toBe(empty);
    expect(calls).toEqual(deadLetters);
  });

  it('can declare the dead letters only', async () => {
    const { target, calls } = recordingTarget();
    expect(await ladder.declareDeadLetters(target)).toBe(ladder);
    expect(calls).toEqual(deadLetters);
  });

  it('stops at the first that is refused, and says why', async () => {
    const { target, calls } = recordingTarget('orders.new.retry.80s');
    await expect(ladder.declare(target)).rejects.toThrow('refused orders.new.retry.80s');
    expect(calls.at(-1)?.[1]).toBe('orders.new.retry.80s');
  });

  it('takes a target that answers without a promise', async () => {
    const names: string[] = [];
    await ladder.declare({
      declareExchange: (name) => names.push(name),
      declareQueue: (name) => names.push(name),
      bind: (queue) => names.push(queue),
    });
    expect(names).toHaveLength(10);
  });
});
