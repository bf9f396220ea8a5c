import { setTimeout as pause } from 'node:timers/promises';
import { type Connection, connect, type Publisher } from '@acemq/amqp';
import { accept, type Handler, park, type Transport } from '@acemq/core';
import { type Names, RETRIES } from './names.ts';
import type { Order } from './orders.ts';
import type { Telemetry } from './telemetry.ts';

/** Milliseconds of work that an order takes. */
const WORK = 10;

interface Parcel {
  readonly order: string;
}

/** The service: it takes orders, packs them, and says so. */
export interface Service {
  readonly mq: Connection;
  readonly orders: Publisher<Order>;
}

/** Connects with the numbers and the traces, declares, and starts both consumers. */
export async function startService(
  target: string | Transport,
  names: Names,
  { observer, tracing }: Telemetry,
  signal: AbortSignal,
): Promise<Service> {
  const mq = await connect(target, { name: 'shop', observer, connectTimeout: '5s', signal });
  tracing.install(mq);
  await mq.declare(names.topology);
  const parcels = mq.publisher<Parcel>({ exchange: names.events, routingKey: 'parcel.packed' });
  await mq.consume(names.orders, packing(parcels), { retry: RETRIES, concurrency: 4 });
  await mq.consume<Parcel>(names.parcels, () => accept(), { retry: RETRIES });
  return { mq, orders: mq.publisher<Order>({ exchange: names.events, routingKey: 'order.placed' }) };
}

function packing(parcels: Publisher<Parcel>): Handler<Order> {
  return async ({ payload: { order, fails, unusual }, envelope, signal }) => {
    if (unusual) return park('a person has to look at it');
    await pause(WORK, undefined, { signal });
    if (envelope.attempt <= fails) throw new Error('the warehouse does not answer');
    await parcels.send({ order }, { id: `parcel-of-${envelope.id}` });
    return accept();
  };
}
