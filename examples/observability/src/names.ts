import { fixed, type RetryPolicy, type TopologyBuilder, topology } from '@acemq/core';

/** Two deliveries, 200 ms apart. The wait is the broker's, as a wait of minutes is in a service. */
export const RETRIES: RetryPolicy = fixed(2, '200ms').waitInBrokerFrom('200ms');

/** What one run declares, under names of its own. */
export interface Names {
  /** What every name begins with, dot included. */
  readonly prefix: string;
  readonly events: string;
  readonly orders: string;
  readonly parcels: string;
  readonly topology: TopologyBuilder;
}

/** The names of the run that is called `run`. */
export function namesOf(run: string): Names {
  const events = `${run}.events`;
  const orders = `${run}.orders`;
  const parcels = `${run}.parcels`;
  return Object.freeze({
    prefix: `${run}.`,
    events,
    orders,
    parcels,
    topology: topology()
      .exchange(events, 'topic')
      .queue(orders, { retry: RETRIES })
      .bind(orders, events, 'order.placed')
      .queue(parcels, { retry: RETRIES })
      .bind(parcels, events, 'parcel.packed'),
  });
}
