import type { ConsumeEvents, Delivery, Link, PublishChannel, PublishListener, Transport } from '@acemq/core';

/** The steps of settling one delivery, in their order. Without a copy there are only those of the acknowledgement. */
export type Step =
  /** The handler has answered; nothing has been written. */
  | 'before the copy'
  /** The copy has been handed to the socket; perhaps it has left. */
  | 'after the copy'
  /** The broker has confirmed the copy; the library has not been told. */
  | 'before the acknowledgement'
  /** The acknowledgement has been handed to the socket; perhaps it has left. */
  | 'after the acknowledgement'
  /** The broker has answered a question that came after it, so that it has read it. */
  | 'when all is done';

/** A transport whose process ends with SIGKILL at a step: nothing is put in order, no socket is closed. */
export function dyingAt(step: Step, transport: Transport): Transport {
  return {
    name: transport.name,
    endpoints: transport.endpoints,
    dial: async (request) => dyingLink(step, await transport.dial(request)),
  };
}

function die(): void {
  process.kill(process.pid, 'SIGKILL');
}

function dyingLink(step: Step, link: Link): Link {
  return overriding(link, {
    async openPublishChannel(events: Parameters<Link['openPublishChannel']>[0]): Promise<PublishChannel> {
      return dyingChannel(step, await link.openPublishChannel(events));
    },
    consume(queue: string, spec: Parameters<Link['consume']>[1], events: ConsumeEvents) {
      const delivered = (delivery: Delivery): void => events.delivered(dyingDelivery(step, link, delivery));
      return link.consume(queue, spec, { delivered, ended: (error) => events.ended(error) });
    },
  });
}

function dyingChannel(step: Step, channel: PublishChannel): PublishChannel {
  return overriding(channel, {
    publish(...args: Parameters<PublishChannel['publish']>): boolean {
      const [exchange, routingKey, message, listener] = args;
      if (step === 'before the copy') die();
      const told: PublishListener = {
        answered(verdict, reason) {
          if (step === 'before the acknowledgement') die();
          listener.answered(verdict, reason);
        },
        cut: (error) => listener.cut(error),
      };
      const room = channel.publish(exchange, routingKey, message, told);
      if (step === 'after the copy') die();
      return room;
    },
  });
}

function dyingDelivery(step: Step, link: Link, delivery: Delivery): Delivery {
  return overriding(delivery, {
    ack(): boolean {
      // An accepted message makes no copy.
      if (step === 'before the acknowledgement') die();
      const sent = delivery.ack();
      if (step === 'after the acknowledgement') die();
      if (step === 'when all is done') void link.checkQueue('nothing of this name').then(die);
      return sent;
    },
  });
}

/** The same object with some of its methods replaced. */
function overriding<T extends object>(target: T, methods: Partial<T>): T {
  return new Proxy(target, {
    get(_, name) {
      if (name in methods) return Reflect.get(methods, name);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
