import { setTimeout as pause } from 'node:timers/promises';
import type { Publisher } from '@acemq/amqp';
import { checkout } from './checkout.ts';
import { ORDERS, type Order } from './orders.ts';
import type { Telemetry } from './telemetry.ts';

/** Places the same orders again and again, one each `every` milliseconds. Resolves with how many, when it is to stop. */
export async function keepPlacing(
  orders: Publisher<Order>,
  { spans, tracer }: Telemetry,
  every: number,
  signal: AbortSignal,
): Promise<number> {
  for (let placed = 0; ; placed += 1) {
    try {
      await pause(every, undefined, { signal });
    } catch (error) {
      if (signal.aborted) return placed;
      throw error;
    }
    spans.reset(); // Nobody looks at them any more.
    await checkout(tracer, orders, ORDERS[placed % ORDERS.length] as Order);
  }
}
