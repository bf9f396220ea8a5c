import type { Connection } from '@acemq/amqp';

/** How often the link that consumes was lost, by connection. One listener serves all of its consumers. */
const LOSSES = new WeakMap<Connection, { count: number }>();

/**
 * A number that changes when the connection loses the link that it consumes over. What was delivered before then is not
 * this process's any more: the broker delivers it again.
 */
export function lossesOf(mq: Connection): number {
  let losses = LOSSES.get(mq);
  if (losses === undefined) {
    const counted = { count: 0 };
    mq.onState((event) => {
      if (event.type === 'lost' && event.link === 'consume') counted.count += 1;
    });
    LOSSES.set(mq, counted);
    losses = counted;
  }
  return losses.count;
}
