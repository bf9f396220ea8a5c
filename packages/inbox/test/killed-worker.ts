// A consumer with an inbox in a process of its own: program, queue, table, form, step. It holds still at the step, says so,
// and waits to be killed.
import { connect } from '@acemq/amqp';
import { type Ack, accept, fixed } from '@acemq/core';
import pg from 'pg';
import { idempotent, idempotentTransaction } from '../src/index.ts';
import { postgresInbox } from '../src/pg.ts';

/** Beside the handler's work, or in one transaction with it. */
export type Form = 'beside the work' | 'in one transaction';

/** Where a worker holds still; `never` for one that goes on. */
export type Step = 'claimed' | 'worked' | 'done' | 'never';

const [queue = '', table = '', form = 'beside the work', step = 'never'] = process.argv.slice(2);

const pool = new pg.Pool({ connectionString: process.env['POSTGRES_URL'] });
const inbox = postgresInbox(pool, { table, claimTimeout: '1s', cleanEvery: false });
const mq = await connect(process.env['AMQP_URL'] ?? '', { name: 'killed worker' });

function holdAt(here: Step): Promise<void> | undefined {
  if (here !== step) return undefined;
  process.stdout.write('held\n');
  return new Promise(() => undefined);
}

async function work(id: string, client: Pick<pg.ClientBase, 'query'>): Promise<Ack> {
  await holdAt('claimed');
  await client.query(`insert into ${table}_effects values ($1, $2)`, [id, process.pid]);
  await holdAt('worked');
  return accept();
}

const once =
  form === 'beside the work'
    ? idempotent(({ envelope }) => work(envelope.id, pool), inbox)
    : idempotentTransaction(({ envelope }, tx) => work(envelope.id, tx.connection), inbox);

await mq.consume(
  queue,
  async (message) => {
    const ack = await once(message);
    await holdAt('done');
    return ack;
  },
  { concurrency: 4, retry: fixed(20, '50ms') },
);
process.stdout.write('consuming\n');
