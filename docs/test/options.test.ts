import { connect } from '@acemq/amqp';
import { accept, ConfigurationError, topology } from '@acemq/core';
import { memoryBroker } from '@acemq/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { code, prose, rows } from './page.ts';

let mq: Awaited<ReturnType<typeof connect>>;
beforeAll(async () => {
  mq = await connect(memoryBroker());
  await mq.declare(topology().queue('q'));
});
afterAll(() => mq.close());

const wrong = { '?': true } as object;

/** The options that a call takes are those that it lists when it is given one that it does not know. */
async function taken(call: () => unknown): Promise<string[]> {
  const error = await Promise.resolve()
    .then(call)
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ConfigurationError);
  const [, list = ''] = /(?:there are|it takes) (.*)$/.exec((error as Error).message) ?? [];
  return list.split(', ').sort();
}

/** The options that a page names in the first column of a table. */
function named(file: string, column: string): string[] {
  return rows(prose(file), column)
    .flatMap(([cell = '']) => code(cell))
    .sort();
}

test('the README of amqp has every option of connect, and no other', async () => {
  expect(named('packages/amqp/README.md', 'Option')).toEqual(
    await taken(() => connect('amqp://host', wrong)),
  );
});

/** What a program may use of an object: its own fields, getters and methods, without those for the library alone. */
function members(object: object, internal: readonly string[] = []): string[] {
  const own = [...Object.keys(object), ...Object.getOwnPropertyNames(Object.getPrototypeOf(object))];
  const hidden = ['constructor', 'toString', ...internal];
  return own.filter((name) => !hidden.includes(name)).sort();
}

test('the README of amqp has every member of a connection, a publisher and a consumer, and no other', async () => {
  const consumer = await mq.consume('q', () => accept());
  const file = 'packages/amqp/README.md';
  const names = (column: string): string[] => named(file, column).map((name) => name.replace(/\(.*/, ''));
  expect(names('Member of a connection').sort()).toEqual(members(mq));
  expect(names('Member of a publisher').sort()).toEqual(members(mq.publisher()));
  expect(names('Member of a consumer').sort()).toEqual(
    members(consumer, ['subscribe', 'restore', 'closeBy', 'closesLast']),
  );
  await consumer.close();
});

test('publishing.md has every field of a raw message, and no other', async () => {
  const message = { body: new Uint8Array(), headers: {}, ...wrong };
  expect(named('docs/publishing.md', 'Field of a raw message')).toEqual(
    await taken(() => mq.publishRaw('', 'q', message)),
  );
});

test('publishing.md has every option of publisher, and no other', async () => {
  expect(named('docs/publishing.md', 'Option of `publisher`')).toEqual(
    await taken(() => mq.publisher(wrong)),
  );
});

test('publishing.md has every option of send, and no other', async () => {
  const asForPublisher = [
    'routingKey',
    'persistent',
    'allowUnroutable',
    'priority',
    'expiresAfter',
    'version',
    'type',
  ];
  const all = [...asForPublisher, ...named('docs/publishing.md', 'Option of `send`')].sort();
  expect(all).toEqual(await taken(() => mq.publisher({ routingKey: 'q' }).send(1, wrong)));
});

test('consuming.md has every option of consume, and no other', async () => {
  expect(named('docs/consuming.md', 'Option of `consume`')).toEqual(
    await taken(() => mq.consume('q', () => accept(), wrong)),
  );
});

test('topology.md has every option of an exchange and of a queue, and no other', async () => {
  expect(named('docs/topology.md', 'Option of `exchange`')).toEqual(
    await taken(() => topology().exchange('e', 'topic', wrong)),
  );
  expect(named('docs/topology.md', 'Option of `queue`')).toEqual(
    await taken(() => topology().queue('e', wrong)),
  );
});
