import { setTimeout as pause } from 'node:timers/promises';
import { PublishError } from '@acemq/core';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { checkout } from './checkout.ts';
import type { Names } from './names.ts';
import { ORDERS, TRACED } from './orders.ts';
import type { Service } from './service.ts';
import type { Telemetry } from './telemetry.ts';

/** Seven orders, and a parcel for each but the one that never works and the one that is parked. */
const ENDINGS = ORDERS.length + 5;
/** Milliseconds. */
const PATIENCE = 20_000;
const LOOK_EVERY = 10;

/** What came of placing the orders. */
export interface Placed {
  /** What the publish said that nobody listens to. */
  readonly unroutable: string;
  /** The spans of the order whose trace is shown. */
  readonly trace: readonly ReadableSpan[];
}

/** Places every order, publishes one event that nobody listens to, and resolves when all has come to its end. */
export async function placeOrders(
  { mq, orders }: Service,
  { events }: Names,
  { endings, spans, tracer }: Telemetry,
  signal: AbortSignal,
): Promise<Placed> {
  const traces = await Promise.all(ORDERS.map((order) => checkout(tracer, orders, order)));
  const shown = traces[ORDERS.findIndex(({ order }) => order === TRACED)];
  let unroutable = '';
  try {
    await mq.publisher({ exchange: events, routingKey: 'order.cancelled' }).send({ order: 'o-8' });
  } catch (error) {
    if (!(error instanceof PublishError && error.unroutable)) throw error;
    unroutable = error.reason ?? '';
  }
  const deadline = performance.now() + PATIENCE;
  while (endings.total < ENDINGS || mq.consumers.some(({ inFlight }) => inFlight > 0)) {
    if (performance.now() > deadline) throw new Error(`only ${endings.total} of ${ENDINGS} have ended`);
    await pause(LOOK_EVERY, undefined, { signal });
  }
  const trace = spans.getFinishedSpans().filter((span) => span.spanContext().traceId === shown);
  return { unroutable, trace };
}
