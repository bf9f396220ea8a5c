// Each shape of the seed, made by real workers on a real stream. A reading is taken every 1.5 seconds instead of every 15, and the
// thresholds are smaller by the same factor.
import { Metrics } from '@acemq/observe';
import type { Redis } from 'ioredis';
import { afterEach, beforeAll, expect, it } from 'vitest';
import {
  type BacklogSample,
  diagnose,
  enqueue,
  type StreamHandler,
  StreamSource,
  StreamWorker,
  type StreamWorkerOptions,
} from '../src/index.ts';
import { ioredis, ownStream } from './redis.ts';

const INTERVAL = 1500;
const options = { stoppedFor: INTERVAL, stuckFor: 2 * INTERVAL, lateAfter: 1000 } as const;

let redis: Redis;
beforeAll(() => {
  redis = ioredis();
});

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const ending: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end();
});

/** A stream with a producer, workers and readings. */
class Night {
  readonly stream: string;
  readonly #metrics: Metrics = new Metrics();
  readonly #samples: BacklogSample[] = [];
  readonly workers: StreamWorker[] = [];
  /** Jobs that are added in every tenth of a second. */
  perTick = 10;
  kind: () => string = () => 'a';

  constructor(stream: string) {
    this.stream = stream;
    const timer = setInterval(() => {
      for (let n = 0; n < this.perTick; n += 1) {
        enqueue({ client: redis, stream, kind: this.kind() }).catch(() => {});
      }
    }, 100);
    ending.push(() => clearInterval(timer));
  }

  static async begin(): Promise<Night> {
    return new Night(await ownStream(redis));
  }

  async worker(
    handlers: Record<string, StreamHandler>,
    more: Partial<StreamWorkerOptions> = {},
  ): Promise<void> {
    const worker = new StreamWorker({
      client: redis,
      blockingClient: ioredis(),
      stream: this.stream,
      group: 'workers',
      consumer: `worker-${this.workers.length}`,
      handlers,
      observer: this.#metrics,
      logger: { info() {}, warn() {} },
      ...more,
    });
    this.workers.push(worker);
    ending.push(() => worker.close(0));
    await worker.start();
  }

  /** Takes so many readings, and says what the last one shows. */
  async read(readings: number, kind = 'a'): Promise<ReturnType<typeof diagnose>> {
    const source = new StreamSource({ client: redis, stream: this.stream, group: 'workers' });
    for (let n = 0; n < readings; n += 1) {
      await wait(INTERVAL);
      const { asOf, kinds, deadLength } = await source.read();
      const found = kinds.find((one) => one.kind === kind);
      this.#samples.push({
        at: asOf,
        depth: found?.depth ?? 0,
        oldestAge: found?.oldestAge ?? 0,
        held: found?.held ?? 0,
        completed: this.#metrics.counts.get(`jobs_completed_total{kind="${kind}"}`) ?? 0,
        deadLength,
      });
    }
    return diagnose(this.#samples, options);
  }
}

const quick = async (): Promise<void> => {
  await wait(10);
};

it('workers that keep up have nothing to say', async () => {
  const night = await Night.begin();
  night.perTick = 2;
  await night.worker({ a: quick }, { concurrency: 4 });
  expect(await night.read(4)).toEqual({ shape: 'healthy', sentence: 'nothing to say' });
});

it('workers that were killed are stopped', async () => {
  const night = await Night.begin();
  await night.worker({ a: quick }, { concurrency: 4 });
  await night.read(2);
  await night.workers[0]?.close(0);
  expect(await night.read(2)).toMatchObject({
    shape: 'stopped',
    sentence: expect.stringContaining('start them'),
  });
});

it('workers that died with what they held, and a reclaim that is off, are a dead reclaim', async () => {
  const night = await Night.begin();
  night.perTick = 1;
  await wait(600);
  night.perTick = 0;
  await redis.xreadgroup('GROUP', 'workers', 'dead', 'COUNT', 100, 'STREAMS', night.stream, '>');
  await night.worker({ a: quick }, { reclaimAfter: 0 });
  await night.read(1);
  expect(await night.read(2)).toMatchObject({
    shape: 'stopped',
    sentence: expect.stringContaining('nothing reclaims'),
  });
});

it('one entry that never ends, in a batch of ten, is poison', async () => {
  const night = await Night.begin();
  night.perTick = 1; // A machine that is busy with other things must not make it saturated.
  let poisoned = false;
  const handler = async (): Promise<void> => {
    if (!poisoned) {
      poisoned = true;
      await new Promise(() => {});
    }
    await quick();
  };
  await night.worker({ a: handler });
  await night.worker({ a: handler });
  await night.read(2);
  expect(await night.read(2)).toMatchObject({ shape: 'poison' });
});

it('a bug on one kind is a bug', async () => {
  const night = await Night.begin();
  const broken = (): never => {
    throw new TypeError('a bug');
  };
  await night.worker({ a: quick, b: broken }, { concurrency: 4, reclaimAfter: 100, deliveryLimit: 2 });
  await night.read(2);
  night.kind = () => (Math.random() < 0.1 ? 'b' : 'a');
  expect(await night.read(2)).toMatchObject({ shape: 'bug' });
});

it('a handler that has become slow is saturated', async () => {
  const night = await Night.begin();
  let time = 10;
  await night.worker({ a: () => wait(time) }, { concurrency: 4 });
  await night.read(2);
  time = 80;
  expect(await night.read(2)).toMatchObject({ shape: 'saturated' });
});

it('arrivals that have doubled are saturated', async () => {
  const night = await Night.begin();
  await night.worker({ a: () => wait(30) }, { concurrency: 4 });
  night.perTick = 8;
  await night.read(2);
  night.perTick = 20;
  expect(await night.read(2)).toMatchObject({ shape: 'saturated' });
});
