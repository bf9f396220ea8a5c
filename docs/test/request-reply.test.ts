import { connect } from '@acemq/amqp';
import { accept, ConfigurationError, topology } from '@acemq/core';
import { Requester, respond } from '@acemq/patterns/request';
import { memoryBroker } from '@acemq/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { code, prose, rows } from './page.ts';

const page = 'docs/patterns/request-reply.md';
const readme = 'packages/patterns/README.md';
const wrong = { '?': true } as object;

let mq: Awaited<ReturnType<typeof connect>>;
beforeAll(async () => {
  mq = await connect(memoryBroker());
  await mq.declare(topology().queue('q'));
});
afterAll(() => mq.close());

/** The options that a call takes are those that it lists when it is given one that it does not know. */
async function taken(work: Promise<unknown>): Promise<string[]> {
  const error = await work.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ConfigurationError);
  const [, list = ''] = /there are (.*)$/.exec((error as Error).message) ?? [];
  return list.split(', ').sort();
}

/** The names in the first column of a table. */
function named(file: string, column: string): string[] {
  return rows(prose(file), column)
    .flatMap(([cell = '']) => code(cell))
    .map((name) => name.replace(/\(.*/, ''))
    .sort();
}

/** The getters and methods of an object, without those for the library alone. */
function members(object: object): string[] {
  const all = Object.getOwnPropertyNames(Object.getPrototypeOf(object));
  return all.filter((name) => !['constructor', 'toString'].includes(name)).sort();
}

test('the page has every option of a requester and of an ask, and no other', async () => {
  await using requester = await Requester.open(mq, { routingKey: 'q' });
  expect(named(page, 'Option of a requester')).toEqual(await taken(Requester.open(mq, wrong)));
  expect(named(page, 'Option of an ask')).toEqual(await taken(requester.ask(1, wrong)));
});

test('the page has every option of a responder that a consumer has not', async () => {
  const ofConsumer = await taken(mq.consume('q', () => accept(), wrong));
  const all = await taken(respond(mq, 'q', () => 1, wrong));
  expect(named(page, 'Option of a responder')).toEqual(all.filter((name) => !ofConsumer.includes(name)));
});

test('the README has every member of a requester and of a responder, and the page every counter', async () => {
  await using requester = await Requester.open(mq, { routingKey: 'q' });
  await using responder = await respond(mq, 'q', () => 1);
  expect(named(readme, 'Member of a requester')).toEqual(members(requester));
  expect(named(readme, 'Member of a responder')).toEqual([...members(responder), 'queue'].sort());
  const counters = (of: object): string[] =>
    members(of).filter((name) => typeof (of as Record<string, unknown>)[name] === 'number');
  expect(named(page, 'Counter of a requester')).toEqual(counters(requester));
  expect(named(page, 'Counter of a responder')).toEqual(counters(responder));
});
