import fc from 'fast-check';
import { expect, test } from 'vitest';
import { describeFault, planOf } from '../src/soak/plan.ts';

const MINUTE = 60_000;
const CREW = 4;
const seeds = fc.integer({ min: 0, max: 2 ** 32 - 1 });

test('the plan is a function of the seed', () => {
  fc.assert(
    fc.property(seeds, (seed) => {
      expect(planOf(seed, MINUTE, CREW)).toEqual(planOf(seed, MINUTE, CREW));
    }),
    { numRuns: 50 },
  );
});

test('the plan of a seed is the same on every machine', () => {
  const { network, broker } = planOf(1, 20_000, CREW);
  expect([...network, ...broker].map((one) => `${one.at} ${describeFault(one)}`)).toMatchInlineSnapshot(`
    [
      "2000 delay, target 0, ms 167, for 4.0 s",
      "8449 cut-restoring, target all, direction toBroker, frame 24, for 1.2 s",
      "12004 cut, target 2, link consume, how fin, side client",
      "14987 freeze, target all, direction toClient, newcomers false, for 4.9 s",
      "5000 restart, told true, for 2.0 s",
    ]
  `);
});

test('another seed gives another plan', () => {
  expect(planOf(1, MINUTE, CREW)).not.toEqual(planOf(2, MINUTE, CREW));
});

test('a longer run begins like a shorter one', () => {
  fc.assert(
    fc.property(seeds, (seed) => {
      const short = planOf(seed, MINUTE, CREW);
      const long = planOf(seed, 10 * MINUTE, CREW);
      expect(long.network.slice(0, short.network.length)).toEqual(short.network);
      expect(long.broker.slice(0, short.broker.length)).toEqual(short.broker);
    }),
    { numRuns: 50 },
  );
});

test('on a track one fault ends before the next begins, and the last before the run does', () => {
  fc.assert(
    fc.property(seeds, fc.integer({ min: 20_000, max: 5 * MINUTE }), (seed, duration) => {
      const { network, broker } = planOf(seed, duration, CREW);
      for (const track of [network, broker]) {
        track.forEach(({ at, lasts }, index) => {
          expect(at + lasts).toBeLessThan(track[index + 1]?.at ?? duration + 1);
        });
      }
    }),
    { numRuns: 50 },
  );
});

test('every kind of fault comes in two minutes, whatever the seed', () => {
  fc.assert(
    fc.property(seeds, (seed) => {
      const { network, broker } = planOf(seed, 2 * MINUTE, CREW);
      expect(new Set(network.map(({ fault }) => fault.kind)).size).toBe(6);
      expect(new Set(broker.map(({ fault }) => fault.kind)).size).toBe(4);
    }),
    { numRuns: 200 },
  );
});

test('only processes of the crew are hit, and each of them', () => {
  const targets = planOf(7, 10 * MINUTE, CREW).network.map(({ fault }) => fault.target);
  expect(new Set(targets)).toEqual(new Set([0, 1, 2, 3, 'all']));
});
