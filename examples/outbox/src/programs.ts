import { createServer } from 'node:http';
import { connect } from '@acemq/amqp';
import { accept } from '@acemq/core';
import { idempotentTransaction } from '@acemq/inbox';
import { Outbox, OutboxRelay } from '@acemq/outbox';
import { openShop } from './shop-database.ts';

/** Where a program finds what it needs. */
export interface Setting {
  readonly amqp: string;
  readonly database: string;
  readonly run: string;
}

/** The programs of the shop, each a process of its own. */
export const PROGRAMS = ['service', 'relay', 'consumer'] as const;
export type Program = (typeof PROGRAMS)[number];

/** Runs one of them until it is killed. Prints a line when it is ready. */
export async function runProgram(program: Program, setting: Setting): Promise<void> {
  await { service, relay, consumer }[program](setting);
}

/** Takes orders by HTTP: `PUT /ID` stores the order and its event in one transaction. */
async function service({ amqp, database, run }: Setting): Promise<void> {
  const shop = await openShop(database, run);
  const mq = await connect(amqp, { name: 'shop' });
  const outbox = new Outbox(mq, shop.store);
  const server = createServer((request, response) => {
    const id = request.url?.slice(1) ?? '';
    const event = { id, type: 'OrderPlaced', routingKey: `${run}.orders`, payload: { order: id } };
    shop
      .placeOrder(id, (tx) => outbox.send(tx, event))
      .then(
        () => response.writeHead(201).end(),
        (error: unknown) => response.writeHead(503).end(String(error)),
      );
  });
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    console.log(`ready ${typeof address === 'object' ? address?.port : ''}`);
  });
}

/** Publishes what is committed. */
async function relay({ amqp, database, run }: Setting): Promise<void> {
  const shop = await openShop(database, run);
  const mq = await connect(amqp, { name: 'relay' });
  new OutboxRelay(mq, shop.store, { lease: '2s', interval: '200ms' }).start();
  console.log('ready');
}

/** Handles each event once, however often it comes. */
async function consumer({ amqp, database, run }: Setting): Promise<void> {
  const shop = await openShop(database, run);
  const mq = await connect(amqp, { name: 'warehouse' });
  const table = database.startsWith('postgres') ? `${run}_effects` : 'effects';
  const ship = idempotentTransaction(async ({ envelope }, tx) => {
    await tx.run({ strings: [`insert into ${table} (id) values (`, ')'], values: [envelope.id] });
    return accept();
  }, shop.inbox);
  await mq.consume(
    `${run}.orders`,
    async (message) => {
      await shop.delivered(message.envelope.id);
      return ship(message);
    },
    { concurrency: 8 },
  );
  console.log('ready');
}
