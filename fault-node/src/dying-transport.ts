import type {
  ConsumeEvents,
  Delivery,
  Link,
  PublishChannel,
  PublishListener,
  QueueReader,
  Transport,
} from '@acemq/core';

/** The steps of settling one delivery that brings a publish about, in their order. Without one there are only those of the acknowledgement. */
export type Moment =
  /** It is decided what is published; nothing has been written. */
  | 'before the publish'
  /** It has been handed to the socket; perhaps it has left. */
  | 'after the publish'
  /** The broker has confirmed it; the library has not been told. */
  | 'before the acknowledgement'
  /** It has been handed to the socket; perhaps it has left. */
  | 'after the acknowledgement'
  /** The broker has answered a question that came after it, so that it has read it. */
  | 'when all is done';

/** A transport whose process ends with SIGKILL at a moment: nothing is put in order, no socket is closed. */
export function dyingAt(moment: Moment, transport: Transport): Transport {
  return {
    name: transport.name,
    endpoints: transport.endpoints,
    dial: async (request) => dyingLink(moment, await transport.dial(request)),
  };
}

function die(): void {
  process.kill(process.pid, 'SIGKILL');
}

function dyingLink(moment: Moment, link: Link): Link {
  return overriding(link, {
    async openPublishChannel(events: Parameters<Link['openPublishChannel']>[0]): Promise<PublishChannel> {
      return dyingChannel(moment, await link.openPublishChannel(events));
    },
    async openReader(queue: string): Promise<QueueReader> {
      const reader = await link.openReader(queue);
      return overriding(reader, {
        async pull(): Promise<Delivery | undefined> {
          const delivery = await reader.pull();
          return delivery === undefined ? undefined : dyingDelivery(moment, link, delivery);
        },
      });
    },
    consume(queue: string, spec: Parameters<Link['consume']>[1], events: ConsumeEvents) {
      const delivered = (delivery: Delivery): void => events.delivered(dyingDelivery(moment, link, delivery));
      return link.consume(queue, spec, { delivered, ended: (error) => events.ended(error) });
    },
  });
}

function dyingChannel(moment: Moment, channel: PublishChannel): PublishChannel {
  return overriding(channel, {
    publish(...[exchange, routingKey, message, listener]: Parameters<PublishChannel['publish']>): boolean {
      if (moment === 'before the publish') die();
      const told: PublishListener = {
        answered(verdict, reason) {
          if (moment === 'before the acknowledgement') die();
          listener.answered(verdict, reason);
        },
        cut: (error) => listener.cut(error),
      };
      const room = channel.publish(exchange, routingKey, message, told);
      if (moment === 'after the publish') die();
      return room;
    },
  });
}

function dyingDelivery(moment: Moment, link: Link, delivery: Delivery): Delivery {
  return overriding(delivery, {
    ack(): boolean {
      // An accepted message brings no publish about.
      if (moment === 'before the acknowledgement') die();
      const sent = delivery.ack();
      if (moment === 'after the acknowledgement') die();
      if (moment === 'when all is done') void link.checkQueue('nothing of this name').then(die);
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
