import { type Connection, connect } from '@acemq/amqp';
import { accept } from '@acemq/core';
import type { Observer } from '@acemq/observe';
import { OUTSTANDING, PREFETCH, payloadOf } from './workload.ts';

/** A connection as an application opens it, with an observer or without. */
export function openAcemq(url: string, observer?: Observer): Promise<Connection> {
  return connect(url, {
    name: 'bench',
    permits: OUTSTANDING,
    ...(observer === undefined ? {} : { observer }),
  });
}

function* payloads(messages: number): Generator<object> {
  for (let number = 0; number < messages; number += 1) yield payloadOf(number);
}

/** Publishes `messages` in one `sendAll`. */
export async function publishBatch(mq: Connection, queue: string, messages: number): Promise<void> {
  await mq.publisher<object>({ routingKey: queue }).sendAll(payloads(messages));
}

/** Publishes `messages` with `send`, as many at once as there are permits. */
export function publishEach(mq: Connection, queue: string, messages: number): Promise<void> {
  const publisher = mq.publisher<object>({ routingKey: queue });
  return new Promise((resolve, reject) => {
    let next = 0;
    let confirmed = 0;
    const answered = (): void => {
      confirmed += 1;
      if (confirmed === messages) resolve();
      else more();
    };
    const more = (): void => {
      while (next < messages && next - confirmed < OUTSTANDING) {
        publisher.send(payloadOf(next++)).then(answered, reject);
      }
    };
    more();
  });
}

/** Consumes `messages` and accepts each; resolves after the last acknowledgement was written and the consumer is closed. */
export async function consumeAcemq(mq: Connection, queue: string, messages: number): Promise<void> {
  let seen = 0;
  let done: (() => void) | undefined;
  const all = new Promise<void>((resolve) => {
    done = resolve;
  });
  const consumer = await mq.consume<object>(
    queue,
    async () => {
      seen += 1;
      if (seen === messages) setImmediate(() => done?.());
      return accept();
    },
    { prefetch: PREFETCH, declare: false },
  );
  await all;
  await consumer.close();
}
