import { createEnvelope } from '@acemq/core';
import { expect, test } from 'vitest';
import { answeredBy } from '../../src/request/matching.ts';

const waiting = new Map([
  ['r-1', 'first'],
  ['r-2', 'second'],
]);
const reply = (correlationId: string, causationId?: string): string | undefined =>
  answeredBy(createEnvelope({ correlationId, causationId }, { routingKey: 'replies', now: 0 }), waiting);

test('a reply is matched by its correlation', () => {
  expect(reply('r-1')).toBe('first');
  expect(reply('r-2', 'unknown')).toBe('second');
});

test('or by its causation, which is the id of the request', () => {
  expect(reply('a flow of its own', 'r-2')).toBe('second');
});

test('the correlation counts where they disagree', () => {
  expect(reply('r-1', 'r-2')).toBe('first');
});

test('and by nothing else', () => {
  expect(reply('r-3')).toBeUndefined();
  expect(reply('r-3', 'r-4')).toBeUndefined();
});
