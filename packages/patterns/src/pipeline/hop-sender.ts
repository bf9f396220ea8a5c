import type { Connection } from '@acemq/amqp';
import {
  type Ack,
  accept,
  type Codec,
  ConnectionLostError,
  describeError,
  type Message,
  PublishError,
  type PublishErrorCode,
  randomId,
  retry,
  shown,
} from '@acemq/core';
import { pause } from '../pause.ts';
import { CarriedBody } from './carried-body.ts';
import { hopOf } from './hop.ts';
import type { Itinerary } from './itinerary.ts';
import { lossesOf } from './lost-deliveries.ts';
import type { Next } from './step-answer.ts';
import { nameOf, type Stop } from './stop.ts';

/** Milliseconds before a hop that got no answer is tried again: the first, doubling to the longest. */
const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 5_000;

/** One hop: a message, what its step answered, and where its run goes. */
export interface Hop {
  readonly message: Message;
  readonly answer: Next;
  readonly itinerary: Itinerary;
  /** The first of what remains. */
  readonly to: Stop;
  /** What {@link lossesOf} said when the message came. */
  readonly losses: number;
}

/**
 * Publishes the message of a next stop. Resolves to `accept()` when the broker has confirmed it, and to `retry(error)` when
 * the broker or an interceptor has refused it.
 *
 * What says nothing about the message (publishing is blocked, the link is down, no confirm came in time) is neither: the
 * hop is tried again under the same id, for as long as the delivery is still ours. To retry the step instead would do its
 * work again, spend one of its attempts, and send a second message under another id.
 */
export async function sendHop(mq: Connection, codec: Codec, hop: Hop): Promise<Ack> {
  const { message, answer, itinerary, to, losses } = hop;
  const payload = answer.changed === undefined ? message.payload : answer.changed.payload;
  const publisher = mq.publisher({
    exchange: to.exchange,
    routingKey: to.routingKey,
    codec: answer.changed === undefined ? new CarriedBody(message, codec) : codec,
  });
  const fields = { ...hopOf(message.envelope, itinerary, answer, mq.clock.now()), id: randomId() };
  for (let wait = FIRST_PAUSE; ; wait = Math.min(2 * wait, LONGEST_PAUSE)) {
    // The broker delivers the message again, and whoever gets it sends the hop.
    if (lossesOf(mq) !== losses) return retry(new ConnectionLostError('the delivery went with its link'));
    try {
      await publisher.send(payload, fields);
      return accept();
    } catch (error) {
      const isOver =
        isVerdict(error) || !(await pause(mq.clock, wait * (0.5 + Math.random() / 2), message.signal));
      if (isOver) return retry(hopError(hop, error));
    }
  }
}

/** Whether an error is about this message, and would come again; the others are about the connection. */
function isVerdict(error: unknown): boolean {
  if (!(error instanceof PublishError)) return true;
  return !error.retryable || error.code === 'ACEMQ_PUBLISH_NACKED';
}

/** Why the run cannot go on, which ends up as the reason of the dead letter. */
function hopError({ message, to }: Hop, error: unknown): PublishError {
  const { exchange, routingKey } = to;
  const place =
    exchange === ''
      ? `the queue ${shown(routingKey)}`
      : `exchange ${shown(exchange)}, key ${shown(routingKey)}`;
  const words = `the run cannot go on to its next stop ${shown(nameOf(to))} (${place})`;
  const about = { exchange, routingKey, messageId: message.envelope.id };
  if (!(error instanceof PublishError)) {
    return new PublishError(`${words}: ${describeError(error)}`, { ...about, cause: error });
  }
  const { code, reason, mayHaveArrived, retryable } = error;
  const details = { ...about, code: code as PublishErrorCode, reason, mayHaveArrived, retryable };
  // The words of an unroutable message advise somebody who publishes an event.
  return error.unroutable
    ? new PublishError(`${words}: it reached no queue (${reason})`, details)
    : new PublishError(`${words}: ${error.message}`, { ...details, cause: error });
}
