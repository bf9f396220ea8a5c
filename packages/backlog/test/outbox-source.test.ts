import { expect, it } from 'vitest';
import { OutboxSource } from '../src/index.ts';

it('owed records are the depth, by destination, and those given up are the dead', async () => {
  const source = new OutboxSource({
    outbox: {
      retired: async () => [1, 2, 3],
      owedByDestination: async () => [
        { exchange: 'orders', routingKey: 'placed', count: 4, oldestAge: 61_500 },
        { exchange: '', routingKey: 'mails', count: 2, oldestAge: -5 },
      ],
    },
    clock: { now: () => 42 },
  });
  expect(await source.read()).toEqual({
    asOf: 42,
    kinds: [
      { kind: 'orders/placed', depth: 4, oldestAge: 61.5 },
      { kind: '/mails', depth: 2, oldestAge: 0 },
    ],
    deadLength: 3,
  });
});

it('asks for no more than it needs, and says what is missing', () => {
  const outbox = { retired: async () => [] };
  expect(() => new OutboxSource({ outbox: outbox as never })).toThrow(
    'outbox must have a method owedByDestination, and an object has none',
  );
});
