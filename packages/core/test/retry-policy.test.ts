import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Duration } from '../src/index.ts';
import { exponential, fixed, LONGEST_DELAY, none, RetryPolicy } from '../src/index.ts';
import { expectRefusal } from './refusal.ts';
import { secondCopy } from './second-copy.ts';

const half = (): number => 0.5;

describe('a policy', () => {
  it.each([
    [none(), []],
    [fixed(1, '10s'), []],
    [fixed(4, '30s'), [30_000, 30_000, 30_000]],
    [fixed(3, 0), [0, 0]],
    [exponential(5, '1s', '24h'), [1000, 2000, 4000, 8000]],
    [exponential(6, '10s', '1m'), [10_000, 20_000, 40_000, 60_000, 60_000]],
    [exponential(4, '1s', '3s'), [1000, 2000, 3000]],
    [exponential(5, 1001, 1.5, '1h'), [1001, 1501, 2252, 3378]],
    [exponential(3, '1s', 1, '1s'), [1000, 1000]],
  ])('%s has its schedule', (policy, schedule) => {
    expect(policy.schedule()).toEqual(schedule);
    expect(policy.schedule()).toBe(policy.schedule());
    expect(Object.isFrozen(policy.schedule())).toBe(true);
    expect(Object.isFrozen(policy)).toBe(true);
  });

  it.each([
    [none(), { maxAttempts: 1, jitter: 0, maxAge: 0, threshold: 30_000 }],
    [
      fixed(4, '30s'),
      { maxAttempts: 4, multiplier: 1, jitter: 0, maxAge: 0, threshold: 30_000, maxDelay: 30_000 },
    ],
    [
      exponential(6, '10s', '5m'),
      { multiplier: 2, jitter: 0.2, maxAge: 0, threshold: 30_000, maxDelay: 300_000 },
    ],
    [exponential(6, '10s', 3, '5m'), { multiplier: 3, initialDelay: 10_000, maxDelay: 300_000 }],
  ])('%s has its defaults', (policy, settings) => {
    expect(policy).toMatchObject(settings);
  });

  it('is recognised when another copy of the package made it', async () => {
    const copy = await secondCopy<typeof import('../src/retry-policy.ts')>('retry-policy.ts');
    expect(copy.RetryPolicy).not.toBe(RetryPolicy);
    expect(copy.fixed(2, 5)).toBeInstanceOf(RetryPolicy);
    expect(none()).toBeInstanceOf(copy.RetryPolicy);
    for (const other of [null, undefined, {}, { maxAttempts: 3 }, 'none'])
      expect(other).not.toBeInstanceOf(RetryPolicy);
  });

  it.each([
    [none(), 'none()'],
    [fixed(4, '30s'), 'fixed(4, 30s)'],
    [exponential(6, '10s', '5m'), 'exponential(6, 10s, 5m)'],
    [exponential(6, '10s', 1.5, '5m'), 'exponential(6, 10s, 1.5, 5m)'],
    [
      exponential(4, '1s', '4s').giveUpAfter('2h').withJitter(0).waitInBrokerFrom('2s'),
      'exponential(4, 1s, 4s).giveUpAfter(2h).withJitter(0).waitInBrokerFrom(2s)',
    ],
  ])('prints as one would write it', (policy, text) => {
    expect(String(policy)).toBe(text);
  });
});

describe('a policy that cannot be', () => {
  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 10_001, 1e9, '3', undefined])(
    'is refused for %o attempts',
    (attempts) => {
      const value = typeof attempts === 'string' ? JSON.stringify(attempts) : String(attempts);
      expectRefusal(() => fixed(attempts as number, '1s'), 'ACEMQ_CONFIGURATION', 'attempts', value);
      expectRefusal(
        () => exponential(attempts as number, '1s', '1m'),
        'ACEMQ_CONFIGURATION',
        'attempts',
        value,
      );
    },
  );

  it.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, '-1s', 'soon', LONGEST_DELAY + 1, '3651d'])(
    'is refused for a delay of %o',
    (delay) => {
      const value = typeof delay === 'string' ? JSON.stringify(delay) : String(delay);
      expectRefusal(() => fixed(3, delay as Duration), 'ACEMQ_CONFIGURATION', 'delay', value);
      expectRefusal(
        () => exponential(3, delay as Duration, '1h'),
        'ACEMQ_CONFIGURATION',
        'initialDelay',
        value,
      );
      expectRefusal(() => exponential(3, 0, delay as Duration), 'ACEMQ_CONFIGURATION', 'maxDelay', value);
    },
  );

  it('is refused for a ceiling below the first delay', () => {
    expectRefusal(() => exponential(3, '10s', '5s'), 'ACEMQ_CONFIGURATION', 'maxDelay', '10s', '5s');
  });

  it.each([0.9, 0, -1, Number.NaN, Number.POSITIVE_INFINITY, '2s'])(
    'is refused for a multiplier of %o',
    (multiplier) => {
      expectRefusal(
        () => exponential(3, '1s', multiplier as number, '1m'),
        'ACEMQ_CONFIGURATION',
        'multiplier',
        String(multiplier),
      );
    },
  );

  it.each([-0.1, 1.1, Number.NaN, Number.POSITIVE_INFINITY, '0.5'])(
    'is refused for a jitter of %o',
    (jitter) => {
      expectRefusal(
        () => none().withJitter(jitter as number),
        'ACEMQ_CONFIGURATION',
        'jitter',
        String(jitter),
      );
    },
  );

  it('is refused for an age or a threshold that is no duration', () => {
    expectRefusal(() => none().giveUpAfter(-1), 'ACEMQ_CONFIGURATION', 'giveUpAfter', '-1');
    expectRefusal(
      () => none().waitInBrokerFrom(Number.NaN),
      'ACEMQ_CONFIGURATION',
      'waitInBrokerFrom',
      'NaN',
    );
  });
});

const policies = fc
  .tuple(
    fc.integer({ min: 1, max: 200 }),
    fc.nat({ max: 100_000 }),
    fc.double({ min: 1, max: 100, noNaN: true }),
    fc.nat({ max: LONGEST_DELAY - 100_000 }),
  )
  .map(([attempts, initial, multiplier, above]) =>
    exponential(attempts, initial, multiplier, initial + above),
  );

describe('any schedule', () => {
  it('starts with the first delay and grows in whole milliseconds up to the ceiling', () => {
    fc.assert(
      fc.property(policies, (policy) => {
        const schedule = policy.schedule();
        expect(schedule).toHaveLength(policy.maxAttempts - 1);
        let before = policy.initialDelay;
        for (const [index, delay] of schedule.entries()) {
          expect(Number.isInteger(delay)).toBe(true);
          expect(delay).toBeGreaterThanOrEqual(before);
          expect(delay).toBeLessThanOrEqual(policy.maxDelay);
          expect(policy.delayFor(index + 1)).toBe(delay);
          before = delay;
        }
        if (schedule.length > 0) expect(schedule[0]).toBe(policy.initialDelay);
      }),
    );
  });

  it('stays finite for the most attempts there can be', () => {
    const schedule = exponential(10_000, 1, 100, LONGEST_DELAY).schedule();
    expect(schedule).toHaveLength(9999);
    expect(schedule.at(-1)).toBe(LONGEST_DELAY);
  });
});

describe('nextWait', () => {
  it('gives up when the attempts are used', () => {
    const policy = exponential(5, '1s', '24h');
    expect(policy.nextWait(4, 0, half)).toEqual({ delay: 8000, inBroker: false });
    expect(policy.nextWait(5, 0, half)).toBeUndefined();
    expect(policy.nextWait(99, 0, half)).toBeUndefined();
    expect(none().nextWait(1, 0, half)).toBeUndefined();
  });

  it('gives up when the age reaches the limit, and not before', () => {
    const policy = exponential(5, '1s', '24h').giveUpAfter('2m');
    expect(policy.nextWait(1, 119_999, half)).toBeDefined();
    expect(policy.nextWait(1, 120_000, half)).toBeUndefined();
    expect(policy.nextWait(1, undefined, half)).toBeDefined();
    expect(policy.giveUpAfter(0).nextWait(1, 31_536_000_000, half)).toBeDefined();
  });

  it('waits in the broker exactly as scheduled, and never asks for chance', () => {
    const policy = exponential(6, '10s', '5m').withJitter(1);
    const never = (): number => {
      throw new Error('a rung is not jittered');
    };
    expect(policy.nextWait(3, 0, never)).toEqual({ delay: 40_000, inBroker: true });
  });

  it('decides where on the scheduled delay: 29 s that jitter past the threshold wait in the consumer', () => {
    const wait = fixed(2, '29s')
      .withJitter(0.2)
      .nextWait(1, 0, () => 0.9999);
    expect(wait?.inBroker).toBe(false);
    expect(wait?.delay).toBeGreaterThan(30_000);
  });

  it('sends nothing to the broker with a threshold of 0, and everything from the threshold on otherwise', () => {
    expect(fixed(2, '5m').waitInBrokerFrom(0).nextWait(1, 0, half)).toEqual({
      delay: 300_000,
      inBroker: false,
    });
    expect(fixed(2, '1s').waitInBrokerFrom('1s').nextWait(1, 0, half)).toEqual({
      delay: 1000,
      inBroker: true,
    });
  });

  it('keeps a jittered wait in its bounds, whole and at least 1 ms', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 29_999 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (delay, jitter, chance) => {
          const wait = fixed(2, delay)
            .withJitter(jitter)
            .nextWait(1, 0, () => chance);
          expect(wait?.inBroker).toBe(false);
          expect(Number.isInteger(wait?.delay)).toBe(true);
          expect(wait?.delay).toBeGreaterThanOrEqual(Math.max(1, delay * (1 - jitter)));
          expect(wait?.delay).toBeLessThanOrEqual(delay * (1 + jitter));
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('uses the whole width of the jitter, both ways', () => {
    const policy = exponential(3, '10s', '10s');
    expect(policy.nextWait(1, 0, () => 0)?.delay).toBe(8000);
    expect(policy.nextWait(1, 0, half)?.delay).toBe(10_000);
    expect(policy.nextWait(1, 0, () => 1 - Number.EPSILON)?.delay).toBe(12_000);
  });

  it('leaves a delay of 0 at 0', () => {
    expect(fixed(2, 0).withJitter(1).nextWait(1, 0, half)).toEqual({ delay: 0, inBroker: false });
  });

  it.each([0, -1, 1.5, Number.NaN])('refuses the attempt %d', (attempt) => {
    expectRefusal(
      () => fixed(3, 5).nextWait(attempt, 0, half),
      'ACEMQ_CONFIGURATION',
      'attempt',
      String(attempt),
    );
    expectRefusal(() => fixed(3, 5).delayFor(attempt), 'ACEMQ_CONFIGURATION', 'attempt', String(attempt));
  });
});

describe('brokerRungs', () => {
  it('has each delay that waits in the broker once, in order', () => {
    expect(exponential(6, '10s', '1m').brokerRungs()).toEqual([40_000, 60_000]);
    expect(fixed(4, '30s').brokerRungs()).toEqual([30_000]);
    expect(exponential(6, '10s', '1m').waitInBrokerFrom(0).brokerRungs()).toEqual([]);
  });
});
