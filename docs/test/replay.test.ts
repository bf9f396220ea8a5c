import { connect } from '@acemq/amqp';
import { browse, purge, replay } from '@acemq/patterns/replay';
import { memoryBroker } from '@acemq/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { code, prose, rows } from './page.ts';

const PAGE = 'docs/patterns/replay.md';
const wrong = { '?': true } as object;

let mq: Awaited<ReturnType<typeof connect>>;
beforeAll(async () => {
  mq = await connect(memoryBroker());
});
afterAll(() => mq.close());

/** The options that a call takes are those that it lists when it is given one that it does not know. */
async function taken(call: () => Promise<unknown>): Promise<string[]> {
  const error: unknown = await call().catch((reason: unknown) => reason);
  const [, listed = ''] = (error as Error).message.split('there are ');
  return listed.split(', ').sort();
}

test('the page of a replay has every option, and no other', async () => {
  const options = rows(prose(PAGE), 'Option of `replay`').flatMap(([cell = '']) => code(cell));
  expect(options.sort()).toEqual(await taken(() => replay(mq, 'orders.dlq', wrong)));
});

test('the page of a replay says what a look and a purge take', async () => {
  const [, sentence = ''] = /`browse` and `purge` take (.*)\./.exec(prose(PAGE)) ?? [];
  const named = code(sentence).sort();
  expect(named).toEqual(await taken(() => browse(mq, 'orders.dlq', () => {}, wrong)));
  expect(named).toEqual(await taken(() => purge(mq, 'orders.dlq', wrong)));
});
