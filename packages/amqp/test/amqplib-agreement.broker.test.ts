import { randomUUID } from 'node:crypto';
import type { Delivery, HeaderTable, Link, PublishChannel, Transport } from '@acemq/core';
import { memoryBroker } from '@acemq/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { amqplibTransport } from '../src/amqplib/index.ts';
import { BROKER_URL } from './amqplib-proxy.ts';

/** One step of a history. `which` chooses among the deliveries that are out. */
type Step =
  | { readonly do: 'publish' }
  | { readonly do: 'pull' }
  | { readonly do: 'ack' | 'reject' | 'requeue'; readonly which: number }
  | { readonly do: 'consume'; readonly prefetch: number };

/** Milliseconds for a settlement, which nobody answers, to take effect on the broker. */
const PATIENCE = 5000;

/** What there is to see after a step. */
type Seen = unknown;

/** Plays a history, and notes what can be seen after each step and what is left in the end. */
class Player {
  readonly #link: Link;
  readonly #channel: PublishChannel;
  readonly #queue: string;
  readonly #dead: string;
  readonly #out: Delivery[] = [];
  #published = 0;

  constructor(link: Link, channel: PublishChannel, queue: string) {
    this.#link = link;
    this.#channel = channel;
    this.#queue = queue;
    this.#dead = `${queue}.dead`;
  }

  async play(steps: readonly Step[], expected: readonly Seen[] | undefined): Promise<Seen[]> {
    const seen: Seen[] = [];
    for (const [index, step] of steps.entries()) {
      const answer = await this.#step(step);
      seen.push({ step, answer, ...(await this.#counts(expected?.[index])) });
    }
    seen.push({ queue: await this.#drain(this.#queue), dead: await this.#drain(this.#dead) });
    return seen;
  }

  async #step(step: Step): Promise<unknown> {
    switch (step.do) {
      case 'publish':
        this.#published += 1;
        return this.#publish(`m${this.#published}`);
      case 'pull': {
        const delivery = await this.#link.pull(this.#queue);
        if (delivery !== undefined) this.#out.push(delivery);
        return delivery && look(delivery);
      }
      case 'consume':
        return this.#consume(step.prefetch);
      default: {
        const [delivery] = this.#out.splice(step.which % Math.max(1, this.#out.length), 1);
        if (step.do === 'ack') return delivery?.ack();
        return delivery?.nack(step.do === 'requeue');
      }
    }
  }

  #publish(body: string): Promise<string> {
    return new Promise((resolve) => {
      const message = {
        body: Buffer.from(body),
        messageId: body,
        headers: {},
        persistent: true,
        mandatory: true,
      };
      this.#channel.publish('', this.#queue, message, {
        answered: resolve,
        cut: (error) => resolve(error.message),
      });
    });
  }

  /** Lets a consumer take what its prefetch allows, and go again without settling anything. */
  async #consume(prefetch: number): Promise<unknown> {
    const waiting = (await this.#link.checkQueue(this.#queue))?.messages ?? 0;
    const deliveries: Delivery[] = [];
    const spec = { prefetch, tag: '', exclusive: false, arguments: {} };
    const subscription = await this.#link.consume(this.#queue, spec, {
      delivered: (delivery) => void deliveries.push(delivery),
      ended: () => {},
    });
    await expect
      .poll(() => deliveries.length, { interval: 1, timeout: PATIENCE })
      .toBe(Math.min(waiting, prefetch));
    await subscription.release();
    return deliveries.map(look);
  }

  /** The counts of both queues; where it is known what they come to, once they have come to it. */
  async #counts(expected: Seen): Promise<object> {
    const wanted = expected as { readonly queue: number; readonly dead: number } | undefined;
    const end = Date.now() + PATIENCE;
    for (;;) {
      const queue = (await this.#link.checkQueue(this.#queue))?.messages;
      const dead = (await this.#link.checkQueue(this.#dead))?.messages;
      if (wanted === undefined || (wanted.queue === queue && wanted.dead === dead) || Date.now() > end) {
        return { queue, dead };
      }
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }

  async #drain(queue: string): Promise<unknown[]> {
    const found: unknown[] = [];
    for (let next = await this.#link.pull(queue); next; next = await this.#link.pull(queue)) {
      found.push(look(next));
      next.ack();
    }
    return found;
  }
}

function look({ body, redelivered, headers }: Delivery): object {
  const deaths = headers['x-death'] as
    | readonly { readonly reason: string; readonly count: number }[]
    | undefined;
  return {
    body: Buffer.from(body).toString(),
    redelivered,
    returns: headers['x-delivery-count'],
    deaths: deaths?.map(({ reason, count }) => `${reason} ${count}`),
  };
}

async function played(
  transport: Transport,
  args: HeaderTable,
  steps: readonly Step[],
  expected?: readonly Seen[],
): Promise<Seen[]> {
  const events = { lost: () => {}, blocked: () => {}, unblocked: () => {} };
  const link = await transport.dial({ name: 'agreement', endpoint: 0, timeout: 5000, heartbeat: 0, events });
  const queue = `acemq.agreement.${randomUUID()}`;
  const spec = { durable: true, autoDelete: false, exclusive: false };
  try {
    await link.declareQueue(`${queue}.dead`, { ...spec, arguments: {} });
    const deadLetters = { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': `${queue}.dead` };
    await link.declareQueue(queue, { ...spec, arguments: { ...args, ...deadLetters } });
    const channel = await link.openPublishChannel({ closed: () => {} });
    return await new Player(link, channel, queue).play(steps, expected);
  } finally {
    await link.deleteQueue(queue);
    await link.deleteQueue(`${queue}.dead`);
    await link.close();
  }
}

const quorum = { 'x-queue-type': 'quorum' };
const KINDS: readonly (readonly [string, HeaderTable])[] = [
  ['a classic queue', {}],
  ['a classic queue of three that drops its head', { 'x-max-length': 3 }],
  ['a classic queue of three that refuses', { 'x-max-length': 3, 'x-overflow': 'reject-publish' }],
  ['a classic queue of three that dead-letters', { 'x-max-length': 3, 'x-overflow': 'reject-publish-dlx' }],
  ['a quorum queue', quorum],
  ['a quorum queue with a delivery limit', { ...quorum, 'x-delivery-limit': 2 }],
  ['a quorum queue of three', { ...quorum, 'x-max-length': 3 }],
];

const settlement = (what: 'ack' | 'reject' | 'requeue'): fc.Arbitrary<Step> =>
  fc.nat(5).map((which) => ({ do: what, which }));
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.constant<Step>({ do: 'publish' }) },
  { weight: 4, arbitrary: fc.constant<Step>({ do: 'pull' }) },
  { weight: 1, arbitrary: settlement('ack') },
  { weight: 1, arbitrary: settlement('reject') },
  { weight: 3, arbitrary: settlement('requeue') },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 1, max: 4 }).map((prefetch): Step => ({ do: 'consume', prefetch })),
  },
);

/** Histories for each kind of queue; more are played by hand when either broker's side of it is worked on. */
const RUNS = Number(process.env['AGREEMENT_RUNS'] ?? 6);

test.each(KINDS)(
  'the in-memory broker and RabbitMQ agree on every step of any history of %s',
  async (_, args) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
        const expected = await played(memoryBroker(), args, steps);
        expect(await played(amqplibTransport(BROKER_URL), args, steps, expected)).toEqual(expected);
      }),
      { numRuns: RUNS, endOnFailure: true },
    );
  },
);
