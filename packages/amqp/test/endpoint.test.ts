import { expect, test } from 'vitest';
import { onMemory } from './setting.ts';

test('a broker that is not reached over a network has no endpoint', async () => {
  const { mq } = await onMemory();
  expect([mq.endpoint(), mq.endpoint('consume')]).toEqual([undefined, undefined]);
});
