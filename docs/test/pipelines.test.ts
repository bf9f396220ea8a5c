import { connect } from '@acemq/amqp';
import { followSlip, next, Pipeline, startSlip } from '@acemq/patterns/pipeline';
import { memoryBroker } from '@acemq/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { code, prose, rows } from './page.ts';

const PAGE = 'docs/patterns/pipelines.md';
const wrong = { '?': true } as object;
const made = new Pipeline('orders', ['one']);

let mq: Awaited<ReturnType<typeof connect>>;
beforeAll(async () => {
  mq = await connect(memoryBroker());
});
afterAll(() => mq.close());

/** The options that a call takes are those that it lists when it is given one that it does not know. */
async function taken(call: () => unknown): Promise<string[]> {
  try {
    await call();
  } catch (error) {
    const [, listed] = (error as Error).message.split('there are ');
    if (listed !== undefined) return listed.split(', ').sort();
  }
  throw new Error('it was not refused');
}

function named(column: string, page = PAGE): string[] {
  return rows(prose(page), column)
    .flatMap(([cell = '']) => code(cell))
    .sort();
}

test('pipelines.md has every option of a pipeline, and no other', async () => {
  expect(named('Option of a pipeline')).toEqual(await taken(() => new Pipeline('orders', ['one'], wrong)));
});

test('pipelines.md has every option of send and of startSlip, and no other', async () => {
  const listed = named('Option of `send` and `startSlip`');
  expect(listed).toEqual(await taken(() => made.send(mq, {}, wrong)));
  expect(listed).toEqual(await taken(() => startSlip(mq, [], {}, wrong)));
});

test('pipelines.md has every option of next, and no other', async () => {
  expect(named('Option of `next`')).toEqual(await taken(() => next({}, wrong)));
});

test('pipelines.md has every option of followSlip and of run that a consumer has not, and no other', async () => {
  const ofConsume = await taken(() => mq.consume('orders', () => next() as never, wrong));
  const own = (all: readonly string[]): string[] => all.filter((name) => !ofConsume.includes(name));
  const ofSlip = await taken(() => followSlip(mq, 'orders', () => next(), wrong));
  expect(named('Option of `followSlip`')).toEqual(own(ofSlip));
  expect(own(await taken(() => made.run(mq, { one: () => next() }, wrong)))).toEqual(['steps']);
  expect(ofSlip).toEqual(expect.arrayContaining(ofConsume));
});

test('the README of patterns has every member of a pipeline, and no other', () => {
  const own = [...Object.keys(made), ...Object.getOwnPropertyNames(Object.getPrototypeOf(made))];
  const names = named('Member of a pipeline', 'packages/patterns/README.md');
  expect(names.map((name) => name.replace(/\(.*/, '')).sort()).toEqual(
    own.filter((name) => !['constructor', 'toString'].includes(name)).sort(),
  );
});

test('pipelines.md has every field of a run, and no other', async () => {
  const pipeline = new Pipeline('fields', ['one']);
  await pipeline.declare(mq);
  const fields = await new Promise<string[]>((resolve) => {
    void pipeline.follow(mq, 'one', (_, run) => {
      resolve(Object.keys(run));
      return next();
    });
    void pipeline.send(mq, {});
  });
  const [, sentence = ''] = /second argument of a handler is the run: (.*)\./.exec(prose(PAGE)) ?? [];
  expect(code(sentence).sort()).toEqual(fields.sort());
});
