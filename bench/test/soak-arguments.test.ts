import { expect, test } from 'vitest';
import { readArguments } from '../src/soak/arguments.ts';

test('without arguments a run takes two minutes and has a seed of chance', () => {
  const one = readArguments([]);
  expect(one.duration).toBe(120_000);
  expect(one.seed).not.toBe(readArguments([]).seed);
});

test('the duration and the seed can be given, in either order', () => {
  expect(readArguments(['10m', '--seed', '7'])).toEqual({ duration: 600_000, seed: 7 });
  expect(readArguments(['--seed', '0', '45s'])).toEqual({ duration: 45_000, seed: 0 });
});

test.each([
  [['5s'], '20'],
  [['soon'], 'soon'],
  [['--seed'], "--seed: ''"],
  [['--seed', '-1'], "'-1'"],
  [['--seed', '1.5'], "'1.5'"],
  [['--seed', '4294967296'], '4294967295'],
  [['1m', '2m'], "'2m'"],
  [['--sed', '1'], "'--sed'"],
])('%j is refused', (args, words) => {
  expect(() => readArguments(args)).toThrow(words);
});
