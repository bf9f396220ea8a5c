import { type Diagnosis, diagnose, enqueue, StreamSource, StreamWorker } from '@acemq/backlog';
import { Metrics } from '@acemq/observe';
import type { Redis } from 'ioredis';
import { AgeAlert } from './age-alert.ts';

const KIND = 'render_tickets';

/** The night of the second sale: 3,000 orders in 10 minutes, each a render of 4 seconds, on workers of 8 threads. */
const ARRIVALS = 3000;
const OVER = 600;
const SERVICE_TIME = 4;
const THREADS = 8;
/** Seconds of the night from one reading to the next. */
const INTERVAL = 15;

/** What a dashboard shows at one moment. All times are seconds of the night. */
export interface Panel {
  readonly time: number;
  readonly depth: number;
  readonly oldestAge: number;
  readonly completed: number;
  /** Jobs a second of the night, since the panel before. */
  readonly throughput: number;
  readonly workers: number;
  readonly fires: boolean;
  readonly diagnosis: Diagnosis;
}

/** What a night needs. */
export interface NightOptions {
  readonly redis: Redis;
  readonly stream: string;
  /** How many seconds of the night one second takes. */
  readonly scale: number;
  /** Is told each reading. */
  readonly show: (panel: Panel) => void;
  readonly signal?: AbortSignal;
}

/**
 * Runs the night on a stream: one worker, and two more when the alert fires. Resolves to its readings when all jobs are done.
 */
export async function night({ redis, stream, scale, show, signal }: NightOptions): Promise<readonly Panel[]> {
  const metrics = new Metrics();
  const workers: StreamWorker[] = [];
  const connections: Redis[] = [];
  const begun = performance.now();
  const now = (): number => ((performance.now() - begun) / 1000) * scale;
  const addWorker = async (): Promise<void> => {
    const blockingClient = redis.duplicate();
    connections.push(blockingClient);
    const worker = new StreamWorker({
      client: redis,
      blockingClient,
      stream,
      group: 'workers',
      consumer: `worker-0${workers.length + 1}`,
      concurrency: THREADS,
      handlers: { [KIND]: () => seconds(SERVICE_TIME) },
      observer: metrics,
    });
    workers.push(worker);
    await worker.start();
  };
  const seconds = (time: number): Promise<void> =>
    new Promise((resolve) => setTimeout(resolve, (time * 1000) / scale));

  await addWorker();
  const source = new StreamSource({ client: redis, stream, group: 'workers' });
  const alert = new AgeAlert(60, 60);
  const panels: Panel[] = [];
  let added = 0;
  const arriving = setInterval(() => {
    const due = Math.min(ARRIVALS, Math.floor((now() / OVER) * ARRIVALS));
    for (; added < due; added += 1) {
      enqueue({ client: redis, stream, kind: KIND, fields: { order: String(added) } }).catch(() => {});
    }
  }, 5);
  try {
    while (!signal?.aborted) {
      await seconds(INTERVAL);
      const { kinds } = await source.read();
      const time = now();
      const { depth, oldestAge } = kinds.find(({ kind }) => kind === KIND) ?? { depth: 0, oldestAge: 0 };
      const completed = metrics.counts.get(`jobs_completed_total{kind="${KIND}"}`) ?? 0;
      const before = panels.at(-1);
      const age = (oldestAge ?? 0) * scale;
      const sample = { time, depth: depth ?? 0, oldestAge: age, completed };
      const panel: Panel = {
        ...sample,
        throughput: (completed - (before?.completed ?? 0)) / (time - (before?.time ?? 0)),
        workers: workers.length,
        fires: alert.fires(time, age),
        diagnosis: diagnose(
          [...panels, sample].map((one) => ({ ...one, at: one.time * 1000, deadLength: 0 })),
        ),
      };
      panels.push(panel);
      show(panel);
      if (panel.fires && workers.length === 1) await Promise.all([addWorker(), addWorker()]);
      if (completed >= ARRIVALS) return panels;
    }
    return panels;
  } finally {
    clearInterval(arriving);
    await Promise.all(workers.map((worker) => worker.close()));
    for (const connection of connections) connection.disconnect();
    await redis.del(stream, `${stream}:dead`);
  }
}
