import { connect } from '@acemq/amqp';
import pg from 'pg';
import { PgOutboxStore } from '../src/pg.ts';
import { OutboxRelay, type RelayConnection } from '../src/relay.ts';
import { SILENT } from './recorder.ts';

/** A step of a record's way, at which the worker says so and goes no further. */
export type Step = 'claimed' | 'published' | 'confirmed' | 'marked';

/** What a worker is told. */
export interface WorkerOptions {
  readonly amqp: string;
  readonly postgres: string;
  readonly table: string;
  /** Without one it works until it is killed. */
  readonly hold?: Step;
}

// A relay in a process of its own, for tests that kill it.
const options = JSON.parse(process.argv[2] ?? '{}') as WorkerOptions;
const pool = new pg.Pool({ connectionString: options.postgres });
pool.on('error', () => {});
const mq = await connect(options.amqp, { logger: SILENT, name: 'relay-worker' });

function held<T>(): Promise<T> {
  process.stdout.write('held\n');
  return new Promise(() => {});
}

class HeldStore extends PgOutboxStore<pg.Pool> {
  override async fetch(seqs: readonly number[]): ReturnType<PgOutboxStore['fetch']> {
    const records = await super.fetch(seqs);
    return options.hold === 'claimed' && records.length > 0 ? held() : records;
  }

  override async published(relay: string, seqs: readonly number[]): Promise<number> {
    if (options.hold === 'confirmed') return held();
    const count = await super.published(relay, seqs);
    return options.hold === 'marked' ? held() : count;
  }
}

const publisher: RelayConnection = {
  publishRaw: async (exchange, routingKey, message) => {
    const answer = await mq.publishRaw(exchange, routingKey, message);
    // The broker has it, and this process goes on as if it had not heard so.
    return options.hold === 'published' ? held() : answer;
  },
};

const relay = new OutboxRelay(publisher, new HeldStore(pool, { table: options.table }), {
  lease: '1s',
  interval: '50ms',
  logger: SILENT,
});
relay.start();
process.stdout.write('started\n');
