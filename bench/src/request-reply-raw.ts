import { randomUUID } from 'node:crypto';
import type { Channel, ConfirmChannel, Options } from 'amqplib';
import { openRaw } from './raw.ts';
import { AT_ONCE, answerTo, makeRoundTrips, type RoundTripTask } from './request-reply-sides.ts';
import { headersOf, payloadOf } from './workload.ts';

/** One raw publish, confirmed. */
function publish(
  channel: ConfirmChannel,
  routingKey: string,
  payload: object,
  more: Options.Publish & { readonly headers: Record<string, string | number> },
  confirmed: () => void,
): void {
  const id = randomUUID();
  const now = Date.now();
  const { headers, ...properties } = more;
  channel.publish(
    '',
    routingKey,
    Buffer.from(JSON.stringify(payload)),
    {
      contentType: 'application/json',
      persistent: true,
      messageId: id,
      timestamp: Math.floor(now / 1000),
      headers: { ...headersOf(id, routingKey, now), ...headers },
      ...properties,
    },
    (error) => {
      if (error) throw error;
      confirmed();
    },
  );
}

/** Two channels, as both sides have them: one that publishes, and one that consumes, each on a connection of its own. */
async function open(url: string): Promise<{ publishing: ConfirmChannel; consuming: Channel }> {
  const publishing = await (await openRaw(url)).createConfirmChannel();
  const consuming = await (await openRaw(url)).createChannel();
  await consuming.prefetch(AT_ONCE);
  return { publishing, consuming };
}

/** Consumes each request, publishes the answer and acknowledges the request when that is confirmed. */
export async function answerRaw({ url, queue }: RoundTripTask): Promise<void> {
  const { publishing, consuming } = await open(url);
  await consuming.consume(queue, (message) => {
    if (message === null) return;
    const answer = answerTo(JSON.parse(message.content.toString()));
    const headers = {
      'x-acemq-correlation': String(message.properties.headers?.['x-acemq-id']),
      'x-acemq-causation': String(message.properties.headers?.['x-acemq-id']),
    };
    publish(publishing, message.properties.replyTo, answer, { headers }, () => consuming.ack(message));
  });
}

/** Publishes each request and consumes what comes back, in whichever order. */
export async function askRaw({ url, queue }: RoundTripTask): Promise<(messages: number) => Promise<void>> {
  const { publishing, consuming } = await open(url);
  const { queue: replyTo } = await consuming.assertQueue(`acemq-reply-${randomUUID().replaceAll('-', '')}`, {
    exclusive: true,
    autoDelete: true,
    durable: false,
  });
  const waiting: (() => void)[] = [];
  await consuming.consume(replyTo, (message) => {
    if (message === null) return;
    JSON.parse(message.content.toString());
    consuming.ack(message);
    waiting.shift()?.();
  });
  const headers = { 'acemq-reply-to': replyTo };
  return (messages) =>
    makeRoundTrips(
      messages,
      (number) =>
        new Promise<void>((resolve) => {
          waiting.push(resolve);
          publish(publishing, queue, payloadOf(number), { headers, replyTo, mandatory: true }, () => {});
        }),
    );
}
