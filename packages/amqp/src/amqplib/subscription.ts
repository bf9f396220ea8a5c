import {
  ConfigurationError,
  ConnectionLostError,
  type ConsumeEvents,
  type ConsumeSpec,
  checkShortText,
  type Subscription,
  shown,
} from '@acemq/core';
import type { ConsumeMessage, Replies } from 'amqplib/callback_api';
import { Acknowledgements } from './acknowledgements.ts';
import { AmqplibDelivery } from './delivery.ts';
import type { LinkChannel } from './link-channel.ts';
import { wireArguments } from './table-size.ts';

/** AMQP has two bytes for it, and takes 0 for no limit. */
const LARGEST_PREFETCH = 65_535;

/** A consumer and the channel that is its own. */
class AmqplibSubscription implements Subscription {
  readonly tag: string;
  readonly #channel: LinkChannel;
  readonly #stopping: () => void;
  #stopped: Promise<void> | undefined;

  constructor(tag: string, channel: LinkChannel, stopping: () => void) {
    this.tag = tag;
    this.#channel = channel;
    this.#stopping = stopping;
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#cancel();
    return this.#stopped;
  }

  release(): Promise<void> {
    this.#stopping();
    return this.#channel.close();
  }

  async #cancel(): Promise<void> {
    this.#stopping();
    try {
      await this.#channel.ask<Replies.Cancel>(`cancel consumer "${this.tag}"`, (raw, done) => {
        raw.cancel(this.tag, done);
      });
    } catch {
      // The channel has gone, so nothing more comes: what was asked for.
    }
  }
}

/**
 * Subscribes on a channel opened for it, which is closed again when the broker refuses or ends the
 * subscription.
 */
export async function subscribe(
  open: () => Promise<LinkChannel>,
  queue: string,
  spec: ConsumeSpec,
  events: ConsumeEvents,
): Promise<Subscription> {
  checkShortText('the name of the queue', queue);
  checkShortText('the consumer tag', spec.tag);
  checkPrefetch(spec.prefetch);
  const what = `consume from queue "${queue}"`;
  const options = {
    consumerTag: spec.tag,
    exclusive: spec.exclusive,
    arguments: wireArguments(what, spec.arguments),
  };
  const channel = await open();
  const acknowledgements = new Acknowledgements(channel);
  let running = false;
  const end = (error: Error): void => {
    if (!running) return;
    running = false;
    events.ended(error);
  };
  const deliver = (message: ConsumeMessage | null): void => {
    if (message !== null) {
      acknowledgements.delivered(message);
      events.delivered(new AmqplibDelivery(channel, acknowledgements, message));
    } else if (running) {
      // The broker leaves the channel open, and what is out on it out. Closed first, so that nobody who is
      // told settles what goes back.
      void channel.close();
      end(cancelledByBroker(queue));
    }
  };
  channel.onGone = end;
  try {
    await channel.ask(what, (raw, done) => raw.prefetch(spec.prefetch, false, done));
    const { consumerTag } = await channel.ask<Replies.Consume>(what, (raw, done) => {
      raw.consume(queue, deliver, options, (error, answer) => {
        // Here, not after the await: the end may be in the same read of the socket as the beginning.
        running = !error;
        done(error, answer);
      });
    });
    return new AmqplibSubscription(consumerTag, channel, () => {
      running = false;
    });
  } catch (error) {
    void channel.close();
    throw error;
  }
}

function checkPrefetch(prefetch: number): void {
  if (Number.isInteger(prefetch) && prefetch >= 1 && prefetch <= LARGEST_PREFETCH) return;
  throw new ConfigurationError(
    `prefetch is ${shown(prefetch)}; allowed: a whole number from 1 to ${LARGEST_PREFETCH}`,
  );
}

function cancelledByBroker(queue: string): ConnectionLostError {
  return new ConnectionLostError(
    `the broker cancelled the consumer of queue "${queue}": the queue was deleted or its node has gone`,
  );
}
