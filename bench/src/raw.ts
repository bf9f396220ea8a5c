import { randomUUID } from 'node:crypto';
import { type Channel, type ChannelModel, type ConfirmChannel, connect } from 'amqplib';
import { headersOf, OUTSTANDING, PREFETCH, payloadOf } from './workload.ts';

/** A raw connection, for the raw side and for setting the stage. */
export function openRaw(url: string): Promise<ChannelModel> {
  return connect(url);
}

/** Publishes `messages` and resolves when the last is confirmed. */
export function publishRaw(
  channel: ConfirmChannel,
  queue: string,
  messages: number,
  headers: boolean,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let next = 0;
    let confirmed = 0;
    const more = (): void => {
      while (next < messages && next - confirmed < OUTSTANDING) publish(next++);
    };
    const answered = (error: unknown): void => {
      if (error !== null && error !== undefined) {
        reject(error);
        return;
      }
      confirmed += 1;
      if (confirmed === messages) resolve();
      else more();
    };
    const publish = (number: number): void => {
      const id = randomUUID();
      const now = Date.now();
      channel.publish(
        '',
        queue,
        Buffer.from(JSON.stringify(payloadOf(number))),
        {
          contentType: 'application/json',
          persistent: true,
          mandatory: true,
          messageId: id,
          timestamp: Math.floor(now / 1000),
          ...(headers ? { headers: headersOf(id, queue, now) } : {}),
        },
        answered,
      );
    };
    more();
  });
}

/**
 * Consumes `messages`, parses and acknowledges each, and resolves after the last acknowledgement was written.
 */
export async function consumeRaw(channel: Channel, queue: string, messages: number): Promise<void> {
  await channel.prefetch(PREFETCH);
  let seen = 0;
  await new Promise<void>((resolve, reject) => {
    channel
      .consume(queue, (message) => {
        if (message === null) return;
        JSON.parse(message.content.toString());
        channel.ack(message);
        seen += 1;
        if (seen === messages) resolve();
      })
      .catch(reject);
  });
}
