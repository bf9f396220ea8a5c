import { randomUUID } from 'node:crypto';
import { type Connection, connect } from '@acemq/amqp';
import { topology } from '@acemq/core';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { main } from '../src/main.ts';
import { surroundings } from './surroundings.ts';

const env = { AMQP_URL: process.env['AMQP_URL'] };

let mq: Connection;
let queue: string;

beforeAll(async () => {
  mq = await connect(process.env['AMQP_URL'] ?? '', { name: 'cli-test' });
});
afterAll(() => mq.close());

beforeEach(async () => {
  queue = `cli-${randomUUID().slice(0, 8)}`;
  await mq.declare(topology().queue(queue, { deadLetter: true }));
  const mine = queue;
  onTestFinished(async () => {
    for (const suffix of ['', '.dlq', '.parked']) await mq.deleteQueue(mine + suffix);
  });
});

async function fill(count: number, to = `${queue}.dlq`): Promise<void> {
  const letters = mq.publisher<object>({ routingKey: to });
  for (let index = 0; index < count; index += 1) {
    await letters.send(
      { orderId: `o-${index}` },
      {
        id: `m-${index}-${'x'.repeat(20)}`,
        type: index % 2 === 0 ? 'order.placed' : 'order.cancelled',
        attempt: 5,
        error: `exhausted 5 attempts: Error: no stock for A-${index}`,
        firstSeen: Date.now() - (index + 1) * 3_600_000,
        headers: { tenant: 'acme\u001b[2J' },
      },
    );
  }
}

async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const around = surroundings(env);
  const code = await main(args, around);
  return { code, out: around.out(), err: around.err() };
}

/** A queue takes back what was put back in its own time. */
const left = (name: string, count: number): Promise<void> =>
  vi.waitFor(async () => expect(await mq.messageCount(name)).toBe(count), 5000);

describe('acemq dlq list', () => {
  it('shows age, attempts, type, id and reason in 80 columns, and why they lie there', async () => {
    await fill(3);
    const { code, out, err } = await run('dlq', 'list', queue);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out.replaceAll(queue, 'QUEUE')).toBe(`QUEUE.dlq: 3 messages

age  tries  type             id            reason
 1h      5  order.placed     m-0-xxxxxxx…  Error: no stock for A-0
 2h      5  order.cancelled  m-1-xxxxxxx…  Error: no stock for A-1
 3h      5  order.placed     m-2-xxxxxxx…  Error: no stock for A-2

Why (all):
      3  Error: no stock for *

acemq dlq show QUEUE.dlq m-0-xxxxxxx
acemq dlq replay QUEUE.dlq --dry-run
`);
    await left(`${queue}.dlq`, 3);
  });

  it('reads no more than it is told to, and what matches', async () => {
    await fill(5);
    expect((await run('dlq', 'list', queue, '--limit', '2')).out).toContain('Why (the 2 oldest):');
    const { out } = await run(
      'dlq',
      'list',
      `${queue}.dlq`,
      '--type',
      'order.cancelled',
      '--older-than',
      '3h',
    );
    expect(out).toContain('Why (1 that match):');
    expect(await run('dlq', 'list', queue, '--reason', 'nothing of the kind')).toMatchObject({
      code: 1,
      out: `${queue}.dlq: 5 messages\nNone of them matches.\n`,
    });
    expect(await run('dlq', 'list', queue, '--parked')).toMatchObject({
      code: 1,
      out: `${queue}.parked: 0 messages\n`,
    });
  });

  it('writes a line of JSON for each', async () => {
    await fill(2);
    const { out } = await run('dlq', 'list', queue, '--json');
    const [first, ...more] = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(more).toHaveLength(1);
    expect(first).toMatchObject({
      type: 'order.placed',
      attempts: 5,
      ageSeconds: 3600,
      redelivered: false,
      replayed: null,
    });
  });

  it('says what a look into a quorum queue has cost', async () => {
    const quorum = `${queue}-quorum`;
    await mq.declare(topology().queue(quorum, { type: 'quorum' }));
    onTestFinished(async () => {
      await mq.deleteQueue(quorum);
    });
    await fill(1, quorum);
    const { code, err } = await run('dlq', 'list', quorum, '--exact');
    expect(code).toBe(0);
    expect(err).toContain(`${quorum} is a quorum queue: to look has spent a delivery`);
  });

  it('ends with 3 where there is no queue or no broker, and prints no password', async () => {
    expect(await run('dlq', 'list', `${queue}-none`)).toMatchObject({ code: 3, out: '' });
    const { code, err } = await run('dlq', 'list', queue, '--url', 'amqp://guest:hush-hush@127.0.0.1:5672');
    expect(code).toBe(3);
    expect(err).toContain('ACCESS_REFUSED');
    expect(err).not.toContain('hush');
    const nobody = await run('dlq', 'list', queue, '--url', 'amqp://guest:hush-hush@127.0.0.1:1');
    expect(nobody.code).toBe(3);
    expect(nobody.err).not.toContain('hush');
  });

  it.each([
    [['dlq', 'list'], 'say which queue'],
    [['dlq', 'list', 'a', 'b'], '"b" is one name too many'],
    [['dlq', 'list', 'a', '--limit', 'few'], '--limit must be a whole number'],
    [['dlq', 'list', 'a', '--url', 'redis://x'], '--url must be a URL such as amqp://localhost'],
    [['dlq', 'list', 'a', '--resaon', 'x'], 'there is no --resaon; did you mean --reason?'],
    [['dlq', 'lst', 'a'], 'did you mean dlq list?'],
  ])('%j ends with 2 and says why', async (args, words) => {
    const { code, err } = await run(...args);
    expect(code).toBe(2);
    expect(err).toContain(words);
  });
});

describe('acemq dlq show', () => {
  it('has everything of the message whose id begins so, and nothing that commands a terminal', async () => {
    await fill(3);
    const { code, out } = await run('dlq', 'show', queue, 'm-1-');
    expect(code).toBe(0);
    expect(out).toMatch(/^id +m-1-x{20}$/m);
    expect(out).toMatch(/^reason +exhausted 5 attempts: Error: no stock for A-1$/m);
    expect(out).toMatch(/^first published +\S+Z, 2h ago$/m);
    expect(out).toContain('  tenant: acme\ufffd[2J\n');
    expect(out).toContain('body, 17 bytes, application/json\n  {\n    "orderId": "o-1"\n  }\n');
    expect(out).not.toContain('\u001b');
    await left(`${queue}.dlq`, 3);
  });

  it('wants more of an id that several begin with, and says where there is none', async () => {
    await fill(2);
    expect(await run('dlq', 'show', queue, 'm-')).toMatchObject({
      code: 2,
      err: expect.stringContaining('several ids begin with "m-"'),
    });
    expect(await run('dlq', 'show', queue, 'z')).toMatchObject({
      code: 1,
      err: `${queue}.dlq has no message whose id is or begins with "z"\n`,
    });
  });

  it('has the oldest as JSON, bytes that are no text in base64', async () => {
    await mq.publishRaw('', `${queue}.dlq`, { body: new Uint8Array([0, 255]), messageId: 'raw' });
    const { out } = await run('dlq', 'show', queue, '--first', '--json');
    expect(JSON.parse(out)).toMatchObject({
      id: 'raw',
      body: 'AP8=',
      bodyIs: 'base64',
      reason: null,
      attempts: 1,
    });
  });
});

describe('acemq dlq replay', () => {
  it('says in a dry run what it would move, and moves it then', async () => {
    await fill(6);
    expect(await run('dlq', 'replay', queue, '--dry-run', '--type', 'order.placed')).toMatchObject({
      code: 0,
      out: `3 messages would be moved from ${queue}.dlq to ${queue}\n3 messages left out: they do not match\n`,
    });
    await left(`${queue}.dlq`, 6);
    expect(await run('replay', queue, '--type', 'order.placed')).toMatchObject({
      code: 0,
      out: `3 messages moved from ${queue}.dlq to ${queue}\n3 messages left out: they do not match\n`,
    });
    expect(await mq.messageCount(queue)).toBe(3);
    const delivery = await mq.pull(queue);
    expect(delivery?.headers).toMatchObject({ 'x-acemq-attempt': 1, 'acemq-replayed-from': `${queue}.dlq` });
    delivery?.ack();
  });

  it('goes where it is told to, as it was found', async () => {
    await fill(2);
    const other = `${queue}-other`;
    await mq.declare(topology().queue(other));
    onTestFinished(async () => {
      await mq.deleteQueue(other);
    });
    const { code, out } = await run(
      'dlq',
      'replay',
      queue,
      '--to',
      other,
      '--keep-attempts',
      '--limit',
      '1',
      '--json',
    );
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({
      queue: `${queue}.dlq`,
      moved: 1,
      skipped: 0,
      cameBack: 0,
      reason: 'limit',
      kind: 'classic',
      dryRun: false,
    });
    const delivery = await mq.pull(other);
    expect(delivery?.headers).toMatchObject({ 'x-acemq-attempt': 5, 'acemq-replay-count': 1 });
    delivery?.ack();
  });

  it('ends with 3 at a target that is not there, and with 1 where nothing matched', async () => {
    await fill(1);
    const { code, err } = await run('dlq', 'replay', queue, '--to', `${queue}-none`);
    expect(code).toBe(3);
    expect(err).toContain('NO_ROUTE');
    expect(await run('dlq', 'replay', queue, '--id', 'nobody')).toMatchObject({ code: 1 });
    await left(`${queue}.dlq`, 1);
  });

  it('that is interrupted puts back what it held, and ends with 130', async () => {
    await fill(30);
    const around = surroundings(env);
    const running = main(['dlq', 'replay', queue, '--rate', '20', '--window', '1'], around);
    await vi.waitFor(async () => expect(await mq.messageCount(queue)).toBeGreaterThan(2), 10_000);
    around.interrupt();
    expect(await running).toBe(130);
    expect(around.out()).toContain('Interrupted. What was moved stays moved');
    const moved = await mq.messageCount(queue);
    await left(`${queue}.dlq`, 30 - moved);
  });

  it.each([
    [['--to', 'a', '--exchange', 'b'], 'cannot both be given'],
    [['--key', 'k'], '--key needs --exchange'],
    [['--rate', 'fast'], '--rate must be a number of messages a second above 0, not "fast"'],
    [['--window', '0'], 'window must be a whole number from 1 to 1000, and is 0'],
  ])('%j is refused', async (args, words) => {
    const { code, err } = await run('dlq', 'replay', queue, ...args);
    expect(code).toBe(2);
    expect(err).toContain(words);
  });

  it('of a queue whose name does not say where its messages came from wants to know', async () => {
    expect(await run('dlq', 'replay', queue, '--exact')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--to is missing'),
    });
  });
});

describe('acemq dlq purge', () => {
  it('wants --yes where there is no terminal to ask on', async () => {
    await fill(1);
    expect(await run('dlq', 'purge', queue)).toMatchObject({
      code: 2,
      err: expect.stringContaining('say --yes'),
    });
    await left(`${queue}.dlq`, 1);
  });

  it('asks on a terminal, and takes nothing but yes for an answer', async () => {
    await fill(3);
    const no = surroundings(env, 'y');
    expect(await main(['dlq', 'purge', queue], no)).toBe(1);
    expect(no.asked).toEqual([`Remove 3 messages from ${queue}.dlq for good? Type yes: `]);
    await left(`${queue}.dlq`, 3);
    const yes = surroundings(env, 'yes');
    expect(await main(['dlq', 'purge', queue, '--limit', '2'], yes)).toBe(0);
    expect(yes.asked).toEqual([`Remove 2 messages from ${queue}.dlq for good? Type yes: `]);
    expect(yes.out()).toBe(`2 messages removed from ${queue}.dlq\n`);
    await left(`${queue}.dlq`, 1);
  });

  it('removes what matches, and keeps the rest', async () => {
    await fill(4);
    const { code, out } = await run(
      'dlq',
      'purge',
      queue,
      '--yes',
      '--attempts',
      '5',
      '--newer-than',
      '150m',
    );
    expect(code).toBe(0);
    expect(out).toBe(`2 messages removed from ${queue}.dlq\n2 messages left out: they do not match\n`);
    await left(`${queue}.dlq`, 2);
  });
});
