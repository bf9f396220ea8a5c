import { expect, test } from 'vitest';
import { compareHalves } from '../src/soak/flatness.ts';
import { Ledger } from '../src/soak/ledger.ts';
import type { Farewell, Sample } from '../src/soak/orders.ts';
import { type Findings, verdictOf } from '../src/soak/verdict.ts';

const sample: Sample = { heap: 10, rss: 80, sockets: 2, timers: 5, done: 0, open: 0, held: 0 };
const flat: readonly Sample[] = Array<Sample>(60).fill(sample);
const farewell: Farewell = {
  finished: true,
  leftovers: [],
  uncaught: [],
  unexpected: [],
  slowest: 100,
  late: 0,
};
const good: Findings = {
  account: new Ledger().account(),
  notRestored: [],
  left: new Map([['soak.orders', 0]]),
  open: 0,
  crew: [{ name: 'publisher 0', samples: flat, farewell }],
  connectionsLeft: 0,
};

function failed(findings: Partial<Findings>): string[] {
  return verdictOf({ ...good, ...findings }).flatMap(({ ok, what, detail }) =>
    ok ? [] : [`${what}: ${detail}`],
  );
}

function failedWith(changed: Partial<Farewell>): string[] {
  return failed({ crew: [{ name: 'publisher 0', samples: flat, farewell: { ...farewell, ...changed } }] });
}

test('a run in which nothing happened holds', () => {
  expect(failed({})).toEqual([]);
});

test.each(['lost', 'unfinished', 'misplaced', 'ghosts', 'unsettled'] as const)(
  'one number that is %s fails the run, and is named',
  (kind) => {
    const lines = failed({ account: { ...good.account, [kind]: [4711] } });
    expect(lines).toEqual([expect.stringContaining('not 1: 4711')]);
  },
);

test('many numbers are counted, and the first are named', () => {
  const lost = Array.from({ length: 12 }, (_, number) => number);
  expect(failed({ account: { ...good.account, lost } })).toEqual([
    'confirmed, and handled or set aside: not 12: 0 1 2 3 4 5 6 7 8 9 …',
  ]);
});

test.each<[string, readonly string[]]>([
  ['an open send', failed({ open: 1 })],
  ['a send that took half a minute', failedWith({ slowest: 30_000 })],
  [
    'an error that nobody should get',
    failed({ account: { ...good.account, sent: { ...good.account.sent, unexpected: 1 } } }),
  ],
  ['an uncaught rejection', failedWith({ uncaught: ['Error: x'] })],
  ['a subscription that did not come back', failed({ notRestored: ['3 subscriptions of 4'] })],
  ['a message left in a queue', failed({ left: new Map([['soak.orders', 1]]) })],
  ['a close that did not finish', failedWith({ finished: false })],
  ['a socket that is left', failedWith({ leftovers: ['TCPSocketWrap'] })],
  ['a connection that is left at the broker', failed({ connectionsLeft: 1 })],
])('%s fails the run', (_, lines) => {
  expect(lines).toHaveLength(1);
});

test.each([
  ['heap', 0.2],
  ['rss', 2],
  ['sockets', 0.1],
  ['timers', 3],
] as const)('%s that grows all the time is not flat', (measure, step) => {
  const growing = flat.map((one, index) => ({ ...one, [measure]: one[measure] + index * step }));
  const uneven = (compareHalves(growing) ?? []).filter((halves) => !halves.flat);
  expect(uneven.map((halves) => halves.measure)).toEqual([measure]);
  expect(failed({ crew: [{ name: 'publisher 0', samples: growing, farewell }] })).toHaveLength(1);
});

test('a peak, and what is used once for all, are flat', () => {
  const peaks = flat.map((one, index) => ({
    ...one,
    heap: index % 10 === 0 ? 200 : 10 + Math.min(index, 5),
  }));
  expect(compareHalves(peaks)?.every((halves) => halves.flat)).toBe(true);
});

test('a run with hardly any samples is not judged', () => {
  expect(compareHalves(flat.slice(0, 8))).toBeUndefined();
});
