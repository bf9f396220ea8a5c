import { expect, test } from 'vitest';
import { placeOf, stepOf } from '../src/soak/fate.ts';
import type { Outcome } from '../src/soak/journal.ts';
import { Ledger } from '../src/soak/ledger.ts';

const numbers = Array.from({ length: 1000 }, (_, number) => number);
const handled = numbers.filter((number) => placeOf(number) === 'handled');
const parked = numbers.filter((number) => placeOf(number) === 'parked');
const deadLettered = numbers.filter((number) => placeOf(number) === 'dlq');
const one = handled[0] as number;
const toPark = parked[0] as number;

function sent(outcome: Outcome, number: number): Ledger {
  const ledger = new Ledger();
  ledger.started(number);
  ledger.settled(number, outcome);
  return ledger;
}

test('every fate and every step occurs among a thousand messages', () => {
  expect(handled.length).toBeGreaterThan(800);
  expect(parked.length).toBeGreaterThan(20);
  expect(deadLettered.length).toBeGreaterThan(20);
  expect(new Set(numbers.flatMap((number) => [1, 2, 3, 4, 5].map((n) => stepOf(number, n))))).toEqual(
    new Set(['accept', 'retry', 'throw', 'reject', 'park']),
  );
});

test('what is handled in the end is accepted by the fifth attempt, and what is not never is', () => {
  expect(handled.every((number) => stepOf(number, 5) === 'accept')).toBe(true);
  const others = [...parked, ...deadLettered];
  expect(others.every((number) => [1, 2, 3, 4, 5].every((n) => stepOf(number, n) !== 'accept'))).toBe(true);
});

test('a confirmed message that a handler accepted is in order', () => {
  const ledger = sent('confirmed', one);
  ledger.worked(one, 'accept');
  expect(ledger.account()).toEqual({
    sent: { confirmed: 1, uncertain: 0, unwritten: 0, nacked: 0, unexpected: 0 },
    ended: { handled: 1, dlq: 0, parked: 0 },
    uncertainArrived: 0,
    duplicates: 0,
    unsettled: [],
    lost: [],
    unfinished: [],
    misplaced: [],
    ghosts: [],
  });
});

test('a confirmed message that nobody saw is lost', () => {
  expect(sent('confirmed', one).account().lost).toEqual([one]);
});

test('a confirmed message that was only retried is lost', () => {
  const ledger = sent('confirmed', one);
  ledger.worked(one, 'retry');
  expect(ledger.account().lost).toEqual([one]);
});

test('a message that may have arrived, and did, must be finished', () => {
  const ledger = sent('uncertain', one);
  expect(ledger.account()).toMatchObject({ uncertainArrived: 0, unfinished: [] });
  ledger.worked(one, 'retry');
  expect(ledger.account()).toMatchObject({ uncertainArrived: 1, unfinished: [one], lost: [] });
  ledger.worked(one, 'accept');
  expect(ledger.account()).toMatchObject({ uncertainArrived: 1, unfinished: [] });
});

test('a message of which nothing was written, and which arrived, is a ghost', () => {
  expect(sent('unwritten', one).account().ghosts).toEqual([]);
  const ledger = sent('unwritten', one);
  ledger.worked(one, 'accept');
  expect(ledger.account().ghosts).toEqual([one]);
});

test('a send without an outcome is unsettled, and a number that was never sent is not', () => {
  const ledger = sent('unwritten', 9);
  ledger.started(5);
  expect(ledger.account()).toMatchObject({ unsettled: [5], sent: { unwritten: 1 } });
});

test('a parked message counts where it lies, and is misplaced elsewhere', () => {
  const ledger = sent('confirmed', toPark);
  ledger.worked(toPark, 'park');
  ledger.setAside(toPark, 'parked');
  expect(ledger.account()).toMatchObject({ ended: { parked: 1 }, lost: [], misplaced: [] });
  ledger.setAside(toPark, 'dlq');
  expect(ledger.account()).toMatchObject({ ended: { parked: 1 }, misplaced: [toPark] });
});

test('duplicates are the ends beyond the first, wherever they are', () => {
  const ledger = sent('confirmed', one);
  for (let times = 0; times < 3; times += 1) ledger.worked(one, 'accept');
  ledger.settled(toPark, 'confirmed');
  ledger.setAside(toPark, 'parked');
  ledger.setAside(toPark, 'parked');
  expect(ledger.account()).toMatchObject({ duplicates: 3, ended: { handled: 1, parked: 1 } });
});

test('numbers far apart are all kept', () => {
  const ledger = sent('confirmed', 3);
  ledger.settled(5_000_000, 'confirmed');
  expect(ledger.account().lost).toEqual([3, 5_000_000]);
});
