import { expect, test } from 'vitest';
import { readArguments } from '../src/arguments.ts';

test('without arguments it is compared with raw amqplib', () => {
  expect(readArguments([])).toEqual({ comparison: 'raw', messages: 40_000, rounds: 5 });
  expect(readArguments(['10000', '3'])).toEqual({ comparison: 'raw', messages: 10_000, rounds: 3 });
});

test('telemetry is compared in nine rounds of 20,000 messages', () => {
  expect(readArguments(['telemetry'])).toEqual({ comparison: 'telemetry', messages: 20_000, rounds: 9 });
  expect(readArguments(['telemetry', '500', '1'])).toMatchObject({ messages: 500, rounds: 1 });
});

test.each([
  [['many'], '"many"'],
  [['0'], '"0"'],
  [['1.5'], '"1.5"'],
  [['1', '2', '3'], '3 came after'],
  [['telemetry', '1', '2', '3'], '3 came after'],
])('%j is refused', (args, words) => {
  expect(() => readArguments(args)).toThrow(words);
});
