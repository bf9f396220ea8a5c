import { readFileSync } from 'node:fs';
import {
  type Ack,
  accept,
  exponential,
  FatalError,
  fixed,
  type Handler,
  type HeaderTable,
  inProgress,
  park,
  type RetryPolicy,
  reject,
  retry,
  topology,
} from '@acemq/core';
import type { Metrics } from '@acemq/observe';
import { describe, expect, onTestFinished, test } from 'vitest';
import { deferred, onManualTime, type Setting } from './setting.ts';

interface Moment {
  readonly of: string;
  readonly when: string;
  readonly counted: Readonly<Record<string, number>>;
  readonly totals: Readonly<Record<string, number>>;
  readonly gauges: Readonly<Record<string, number>>;
}

const fixture = JSON.parse(
  readFileSync(new URL('../../../contract-fixtures/telemetry.json', import.meta.url), 'utf8'),
) as { readonly moments: readonly Moment[] };
const moments = fixture.moments.filter(({ of }) => of === 'connection');

const QUEUE = 'orders';
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
type Stage = Setting & { readonly clock: { advance(milliseconds: number): Promise<void> } };

async function declare({ mq }: Stage): Promise<void> {
  await mq.declare(topology().queue(QUEUE, { deadLetter: true }));
}

/** One message, handled with each of these answers in turn, and time for all that comes of it. */
async function consume(
  stage: Stage,
  answers: readonly (() => Ack | Promise<Ack>)[],
  options: {
    readonly retry?: RetryPolicy;
    readonly body?: string;
    readonly headers?: HeaderTable;
    readonly before?: () => Promise<void>;
    /** After a second, in which the handler has run once. */
    readonly meanwhile?: () => void;
  } = {},
): Promise<void> {
  const { mq, clock } = stage;
  await declare(stage);
  const left = [...answers];
  const handler: Handler<unknown> = async () => {
    const answer = left.shift();
    if (answer === undefined) throw new Error('delivered once more than expected');
    return answer();
  };
  await mq.consume(QUEUE, handler, options.retry === undefined ? {} : { retry: options.retry });
  await options.before?.();
  await mq.publishRaw('', QUEUE, {
    body: bytes(options.body ?? '{}'),
    contentType: 'application/json',
    headers: options.headers ?? {},
  });
  await clock.advance(1_000);
  options.meanwhile?.();
  await clock.advance(120_000);
  expect(left).toEqual([]);
}

const down = (): Ack => retry(new Error('down'));

/** How each moment of the contract comes about. */
const SCENES: Readonly<Record<string, (stage: Stage) => Promise<unknown>>> = {
  'a send is confirmed': async (stage) => {
    await declare(stage);
    await stage.mq.publisher({ routingKey: QUEUE }).send({});
  },
  'a mandatory send reaches no queue': ({ mq }) =>
    expect(mq.publisher({ routingKey: 'nowhere' }).send({})).rejects.toThrow('nowhere'),
  'a payload cannot be encoded': ({ mq }) =>
    expect(mq.publisher({ routingKey: QUEUE }).send(1n)).rejects.toMatchObject({ code: 'ACEMQ_ENCODE' }),
  'a publish interceptor throws': ({ mq }) => {
    mq.interceptPublish(() => {
      throw new Error('not today');
    });
    return expect(mq.publisher({ routingKey: QUEUE }).send({})).rejects.toThrow('not today');
  },
  'a send while the broker blocks': async (stage) => {
    const { mq, broker } = stage;
    await declare(stage);
    broker.block();
    // A link learns of an alarm from what it publishes into it.
    const first = mq.publishRaw('', QUEUE, { body: bytes('{}') });
    await expect.poll(() => mq.blocked).toBe(true);
    await expect(mq.publisher({ routingKey: QUEUE }).send({})).rejects.toMatchObject({
      code: 'ACEMQ_PUBLISHING_PAUSED',
    });
    broker.unblock();
    expect(await first).toMatchObject({ verdict: 'confirmed' });
  },
  'a raw publish is confirmed': async (stage) => {
    await declare(stage);
    expect(await stage.mq.publishRaw('', QUEUE, { body: bytes('{}') })).toMatchObject({
      verdict: 'confirmed',
    });
  },
  'a handler is at work': (stage) => {
    const end = deferred<Ack>();
    onTestFinished(() => end.resolve(accept()));
    return consume(stage, [() => end.promise]);
  },
  'the handler accepts': (stage) => consume(stage, [accept]),
  'the handler asks for a retry that waits here, then accepts': (stage) =>
    consume(stage, [down, accept], { retry: exponential(2, '1s', '1s') }),
  'the handler asks for a retry that waits in the broker, then accepts': (stage) =>
    consume(stage, [down, accept], { retry: exponential(2, '40s', '5m') }),
  'the rung of a retry is missing': (stage) =>
    consume(stage, [down, accept], {
      retry: exponential(2, '40s', '5m'),
      before: async () => void (await stage.mq.deleteQueue(`${QUEUE}.retry.40s`)),
    }),
  'a retry that waited here is not taken by its queue and comes again as it was, then the handler accepts': (
    stage,
  ) =>
    consume(stage, [down, accept], {
      retry: fixed(2, '5s').withJitter(0),
      meanwhile: () => stage.broker.nackNext(1, QUEUE),
    }),
  'the handler rejects': (stage) => consume(stage, [() => reject(new Error('bad'))]),
  'the handler asks for a retry and no attempt is left': (stage) => consume(stage, [down]),
  'the message is too old for another attempt': ({ clock, ...stage }) =>
    consume({ clock, ...stage }, [down], {
      retry: fixed(9, '1m').giveUpAfter('30s'),
      headers: { 'x-acemq-first-seen': BigInt(stage.broker.clock.now() - 60_000) },
    }),
  'the handler answers with something else': (stage) =>
    consume(stage, [(() => 'done') as unknown as () => Ack]),
  'the handler throws a fatal error': (stage) =>
    consume(stage, [
      () => {
        throw new FatalError('never');
      },
    ]),
  'the handler parks': (stage) => consume(stage, [() => park('odd')]),
  'the body cannot be decoded': (stage) => consume(stage, [], { body: '{' }),
  'the handler says that somebody else is at it, then accepts': (stage) =>
    consume(stage, [inProgress, accept]),
  'the dead-letter queue is not there': (stage) =>
    consume(stage, [() => reject(new Error('bad'))], {
      before: async () => void (await stage.mq.deleteQueue(`${QUEUE}.dlq`)),
    }),
  'the parked queue is not there': (stage) =>
    consume(stage, [() => park('odd')], {
      before: async () => void (await stage.mq.deleteQueue(`${QUEUE}.parked`)),
    }),
};

/** Counters by their value, distributions by how many samples they have. */
function counted({ counts, durations }: Metrics): Record<string, number> {
  return Object.fromEntries([...counts, ...[...durations].map(([key, { count }]) => [key, count] as const)]);
}

describe('a number moves when the contract says so, and no other does', () => {
  test.for(moments.map((moment) => [moment.when, moment] as const))('%s', async ([when, moment]) => {
    const scene = SCENES[when];
    if (scene === undefined) throw new Error(`nothing here makes it happen that ${when}`);
    const stage = await onManualTime();
    await scene(stage);
    await expect.poll(() => counted(stage.metrics)).toEqual(moment.counted);
    await expect.poll(() => Object.fromEntries(stage.metrics.gauges)).toEqual(moment.gauges);
    for (const [key, total] of Object.entries(moment.totals)) {
      expect(stage.metrics.durations.get(key)?.total, key).toBe(total);
    }
  });

  test('every scene is one of the contract', () => {
    expect(Object.keys(SCENES).sort()).toEqual(moments.map(({ when }) => when).sort());
  });
});
