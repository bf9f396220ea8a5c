/** What is compared. */
export const SIDES = ['raw', 'raw-again', 'acemq', 'acemq-metrics'] as const;
export type RoundTripSide = (typeof SIDES)[number];

/** Requests that wait for their reply at once, deliveries out unsettled, and requests worked at once. */
export const AT_ONCE = 200;

/** Round trips before the measurement, so that the code is compiled by then. */
export const WARM_UP = 3_000;

/** What one process of the comparison is asked to do. */
export interface RoundTripTask {
  readonly role: 'requester' | 'responder';
  readonly side: RoundTripSide;
  readonly queue: string;
  readonly url: string;
  readonly messages: number;
}

/** What a responder answers to an order of the bench. */
export function answerTo(order: unknown): object {
  const { orderId, total } = order as { readonly orderId: string; readonly total: number };
  return { orderId, total, currency: 'EUR', accepted: true };
}

/** Makes one round trip after another, {@link AT_ONCE} at a time, and resolves after the last. */
export function makeRoundTrips(messages: number, one: (number: number) => Promise<unknown>): Promise<void> {
  return new Promise((resolve, reject) => {
    let begun = 0;
    let done = 0;
    const next = (): void => {
      one(begun++).then(ended, reject);
    };
    const ended = (): void => {
      done += 1;
      if (done === messages) resolve();
      else if (begun < messages) next();
    };
    for (let number = 0; number < Math.min(AT_ONCE, messages); number += 1) next();
  });
}
