import type {
  ConsumeEvents,
  ConsumeSpec,
  Delivery,
  ExchangeSpec,
  ExchangeType,
  HeaderTable,
  Link,
  Outbound,
  PublishChannel,
  PublishListener,
  PublishVerdict,
  QueueSpec,
  Subscription,
  Transport,
} from '@acemq/core';

/** What a harness can do to a transport, besides using it. Each is a feature that a case may need. */
export interface TransportFaults {
  /** Cuts the links whose names this accepts, as a network does. */
  cut(name: (link: string) => boolean): void | Promise<void>;
  /** Raises an alarm on the broker. */
  block(reason: string): void | Promise<void>;
  /** Ends the alarm. */
  unblock(): void | Promise<void>;
  /** Cancels the consumers of a queue, which stays, as a broker does whose node goes. */
  cancel(queue: string): void | Promise<void>;
  /** A transport to the same broker whose password is wrong. */
  refused(): Transport;
  /** A transport to a place where nobody is. */
  unreachable(): Transport;
}

/** A feature by name. */
export type TransportFeature = keyof TransportFaults;

/** How one publish ended. */
export type PublishEnd =
  | { readonly verdict: PublishVerdict; readonly reason: string }
  | { readonly verdict: 'cut'; readonly error: Error };

/** A link and what it told. */
export interface StageLink {
  readonly link: Link;
  readonly lost: Error[];
  readonly blocked: string[];
  readonly unblocked: { count: number };
}

/** A consumer and what it was told. */
export interface StageConsumer {
  readonly subscription: Subscription;
  readonly deliveries: Delivery[];
  readonly ended: Error[];
}

const DEADLINE = 10_000;
let stages = 0;

/**
 * What one case works with: names of its own, links that are closed after it, queues that are removed after
 * it.
 */
export class Stage {
  readonly transport: Transport;
  readonly faults: Partial<TransportFaults>;
  readonly #prefix: string;
  readonly #links: Link[] = [];
  readonly #queues = new Set<string>();
  readonly #exchanges = new Set<string>();
  #channel: PublishChannel | undefined;
  #main: StageLink | undefined;

  constructor(transport: Transport, faults: Partial<TransportFaults>) {
    this.transport = transport;
    this.faults = faults;
    stages += 1;
    this.#prefix = `acemq.suite.${Date.now().toString(36)}.${Math.random().toString(36).slice(2, 8)}.${stages}`;
  }

  /** A name that no other case uses. It is removed after the case as a queue and as an exchange. */
  name(part: string): string {
    const name = `${this.#prefix}.${part}`;
    this.#queues.add(name);
    this.#exchanges.add(name);
    return name;
  }

  /** A new link. */
  async dial(part = 'link', transport: Transport = this.transport): Promise<StageLink> {
    const lost: Error[] = [];
    const blocked: string[] = [];
    const unblocked = { count: 0 };
    const link = await transport.dial({
      name: `${this.#prefix}.${part}`,
      endpoint: 0,
      timeout: DEADLINE,
      heartbeat: 0,
      events: {
        lost: (error) => void lost.push(error),
        blocked: (reason) => void blocked.push(reason),
        unblocked: () => {
          unblocked.count += 1;
        },
      },
    });
    this.#links.push(link);
    return { link, lost, blocked, unblocked };
  }

  /** The link that a case uses when it needs only one. */
  async main(): Promise<Link> {
    this.#main ??= await this.dial('main');
    return this.#main.link;
  }

  /** Declares a queue with a name of its own on the main link. */
  async queue(part: string, args: HeaderTable = {}, spec: Partial<QueueSpec> = {}): Promise<string> {
    const name = this.name(part);
    await (await this.main()).declareQueue(name, queueSpec(args, spec));
    return name;
  }

  /** Declares an exchange with a name of its own on the main link. */
  async exchange(part: string, type: ExchangeType, args: HeaderTable = {}): Promise<string> {
    const name = this.name(part);
    await (await this.main()).declareExchange(name, exchangeSpec(type, { arguments: args }));
    return name;
  }

  /** Publishes on the main link and waits for the end of it. */
  async publish(exchange: string, routingKey: string, message: Partial<Outbound> = {}): Promise<PublishEnd> {
    if (this.#channel?.open !== true) {
      this.#channel = await (await this.main()).openPublishChannel({ closed: () => {} });
    }
    return send(this.#channel, exchange, routingKey, message);
  }

  /** Publishes texts to a queue, one after the other. */
  async fill(queue: string, ...bodies: readonly string[]): Promise<void> {
    for (const body of bodies) {
      const end = await this.publish('', queue, { body: bytes(body) });
      if (end.verdict !== 'confirmed') throw new Error(`publishing ${body} to ${queue}: ${end.verdict}`);
    }
  }

  /** Consumes from a queue on a link, the main one if none is given. */
  async consume(queue: string, spec: Partial<ConsumeSpec> = {}, link?: Link): Promise<StageConsumer> {
    const deliveries: Delivery[] = [];
    const ended: Error[] = [];
    const events: ConsumeEvents = {
      delivered: (delivery) => void deliveries.push(delivery),
      ended: (error) => void ended.push(error),
    };
    const full: ConsumeSpec = { prefetch: 10, tag: '', exclusive: false, arguments: {}, ...spec };
    const subscription = await (link ?? (await this.main())).consume(queue, full, events);
    return { subscription, deliveries, ended };
  }

  /** Pulls one message, waiting for it. */
  async pull(queue: string): Promise<Delivery> {
    const link = await this.main();
    let delivery: Delivery | undefined;
    await until(`a message in ${queue}`, async () => {
      delivery = await link.pull(queue);
      return delivery !== undefined;
    });
    return delivery as Delivery;
  }

  /** Pulls and acknowledges what is in a queue: its texts. */
  async drain(queue: string): Promise<string[]> {
    const link = await this.main();
    const found: string[] = [];
    for (let next = await link.pull(queue); next !== undefined; next = await link.pull(queue)) {
      found.push(text(next));
      next.ack();
    }
    return found;
  }

  /** Waits until a queue holds this many messages ready for delivery. */
  async depth(queue: string, count: number): Promise<void> {
    const link = await this.main();
    await until(
      `${count} messages in ${queue}`,
      async () => (await link.checkQueue(queue))?.messages === count,
    );
  }

  /** Ends it: nothing of it is left on the broker. */
  async close(): Promise<void> {
    for (const link of this.#links) await link.close();
    const { link } = await this.dial('cleanup');
    for (const queue of this.#queues) await link.deleteQueue(queue);
    for (const exchange of this.#exchanges) await link.deleteExchange(exchange);
    await link.close();
  }
}

/** Publishes one message and waits for the end of it. */
export function send(
  channel: PublishChannel,
  exchange: string,
  routingKey: string,
  message: Partial<Outbound> = {},
): Promise<PublishEnd> {
  return new Promise((resolve) => {
    channel.publish(exchange, routingKey, outbound(message), listener(resolve));
  });
}

/** A listener that passes the end on. */
export function listener(ended: (end: PublishEnd) => void): PublishListener {
  return {
    answered: (verdict, reason) => ended({ verdict, reason }),
    cut: (error) => ended({ verdict: 'cut', error }),
  };
}

/** A message with what a case does not care about filled in: mandatory and persistent, with no headers. */
export function outbound(message: Partial<Outbound> = {}): Outbound {
  return {
    body: bytes('body'),
    messageId: 'm-1',
    headers: {},
    persistent: true,
    mandatory: true,
    ...message,
  };
}

/** A durable queue. */
export function queueSpec(args: HeaderTable = {}, spec: Partial<QueueSpec> = {}): QueueSpec {
  return { durable: true, autoDelete: false, exclusive: false, arguments: args, ...spec };
}

/** A durable exchange. */
export function exchangeSpec(type: ExchangeType, spec: Partial<ExchangeSpec> = {}): ExchangeSpec {
  return { type, durable: true, autoDelete: false, arguments: {}, ...spec };
}

export function bytes(value: string): Uint8Array {
  return new TextEncoder().encode(value);
}

/** The body of a delivery as text. */
export function text(delivery: Pick<Delivery, 'body'>): string {
  return new TextDecoder().decode(delivery.body);
}

/** Waits for a condition. Throws, naming it, when it does not come to hold in ten seconds. */
export async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + DEADLINE;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`${what}: did not come about within ${DEADLINE} ms`);
    await new Promise((resolve) => {
      setTimeout(resolve, 5);
    });
  }
}
