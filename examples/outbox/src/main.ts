import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROGRAMS, type Program, runProgram, type Setting } from './programs.ts';
import { runShop } from './run.ts';
import { postgresAnswers } from './shop-database.ts';

const USAGE = `Usage: outbox [ORDERS]

Takes ORDERS orders (2000) by HTTP, each stored with its event in one transaction, while the
service, the relay and the consumer are killed five times each. Ends with 0 when every order
had its effect once.

AMQP_URL says where RabbitMQ is, POSTGRES_URL where PostgreSQL is; without a PostgreSQL that
answers, the orders are kept in a SQLite file.
`;

const [first, second] = process.argv.slice(2);
if (PROGRAMS.includes(first as Program)) {
  await runProgram(first as Program, JSON.parse(second ?? '{}') as Setting);
} else if (first !== undefined && !/^[1-9]\d{0,5}$/.test(first)) {
  const isHelp = first === '--help' || first === '-h';
  (isHelp ? process.stdout : process.stderr).write(USAGE);
  process.exitCode = isHelp ? 0 : 2;
} else {
  process.exitCode = await main(Number(first ?? 2000));
}

async function main(orders: number): Promise<number> {
  const amqp = process.env['AMQP_URL'] ?? 'amqp://guest:guest@127.0.0.1:5672';
  const postgres = process.env['POSTGRES_URL'] ?? 'postgres://postgres@127.0.0.1:5432/test';
  const run = `shop_${randomUUID().slice(0, 8)}`;
  const folder = await mkdtemp(join(tmpdir(), 'acemq-shop-'));
  try {
    const isThere = await postgresAnswers(postgres);
    const database = isThere ? postgres : join(folder, 'shop.db');
    console.log(`${orders} orders, kept in ${isThere ? 'PostgreSQL' : 'a SQLite file'}`);
    return (await runShop({ amqp, database, run }, orders)) ? 0 : 1;
  } finally {
    await rm(folder, { recursive: true });
  }
}
