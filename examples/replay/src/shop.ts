import type { Connection } from '@acemq/amqp';
import { type Ack, accept, fixed, park, type RetryPolicy } from '@acemq/core';

/** An order as it is published. */
export interface Order {
  readonly orderId: string;
  readonly country: string;
}

/** Three deliveries, a moment apart: this is an example, and nobody wants to wait for it. */
export const RETRIES: RetryPolicy = fixed(3, '20ms').withJitter(0);

/** The orders: every fifth is for a country whose tariff the shop has wrong, and a few say no country at all. */
export function* orders(count: number): Generator<Order> {
  for (let index = 0; index < count; index += 1) {
    const country = index % 20 === 7 ? '' : index % 5 === 0 ? 'LI' : 'AT';
    yield { orderId: `o-${index}`, country };
  }
}

/** Ships orders. It begins with a bug, which is mended while it runs, as a deployment does. */
export class Shop {
  readonly shipped: Set<string> = new Set();
  isMended = false;

  async open(mq: Connection, queue: string): Promise<void> {
    await mq.consume<Order>(queue, ({ payload }) => this.#ship(payload), { retry: RETRIES, concurrency: 20 });
  }

  #ship({ orderId, country }: Order): Ack {
    if (country === '') return park(new Error('no country'));
    if (country === 'LI' && !this.isMended) throw new TypeError('the tariff of LI has no price');
    this.shipped.add(orderId);
    return accept();
  }
}
