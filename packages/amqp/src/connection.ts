import {
  AbortedError,
  type BrokerEndpoint,
  BrokerRefusedError,
  type Clock,
  type Codec,
  ConfigurationError,
  ConnectError,
  ConnectionClosedError,
  ConnectionLostError,
  type ConsumeInterceptor,
  checkName,
  checkQueueName,
  checkRoutingKey,
  type Delivery,
  declarePlan,
  type EncodedPayload,
  type Handler,
  type Interceptable,
  type Link,
  type MessageRecorder,
  type PublishInterceptor,
  type QueueReader,
  type RawAnswer,
  type RawMessage,
  type RawPublisher,
  REPLY_NOT_FOUND,
  type RecordOptions,
  type RetryLadder,
  shown,
  type Timer,
  type TopologyBuilder,
  type TopologyPlan,
  type Tracing,
  type Transport,
} from '@acemq/core';
import type { HealthReport } from '@acemq/health';
import type { Observer } from '@acemq/observe';
import { encodeWith } from './codecs/encode-with.ts';
import type { ResolvedConnectOptions } from './connect-options.ts';
import { Consumer, type ConsumerCloseReport } from './consuming/consumer.ts';
import { type ConsumeOptions, resolveConsumeOptions } from './consuming/consumer-options.ts';
import { explaining } from './declaring.ts';
import { type HealthFacts, type HealthOptions, healthTimeoutOf } from './health.ts';
import { HealthCheckup } from './health-checkup.ts';
import { inspectedAsText } from './inspected-as-text.ts';
import { driftError, inspectPlan, type PlanReport } from './inspection.ts';
import { Interceptors } from './interceptors.ts';
import { LinkPair } from './link/link-pair.ts';
import type { RefusedDeclaration } from './link/recorded-topology.ts';
import { RestoredTopology } from './link/restored-topology.ts';
import { tell } from './listening.ts';
import { NO_TRACING } from './no-tracing.ts';
import { type CloseOptions, closeTimeoutOf } from './option-checks.ts';
import { PublishLink } from './publishing/publish-link.ts';
import { Publisher } from './publishing/publisher.ts';
import { type PublisherOptions, resolvePublisherOptions } from './publishing/publisher-options.ts';
import { outboundOf, RawPublish } from './publishing/raw-publish.ts';
import type { ConnectionState, LinkRole, StateEvent } from './states.ts';
import { ConsumeTelemetry, InFlight, PublishTelemetry } from './telemetry.ts';

/** How a close went. */
export interface CloseReport {
  /** Whether every handler and every publish that had been accepted came to its end within the deadline. */
  readonly finished: boolean;
  /** Deliveries left unsettled; the broker delivers them again. */
  readonly unsettled: number;
  /** Publishes whose confirm had not come; they may or may not have arrived. */
  readonly unconfirmed: number;
}

/**
 * A connection to the broker: two links, one that publishes and one that consumes, asks and declares. A
 * broker under an alarm stops reading the link that publishes; acknowledgements and deliveries go on over the
 * other, and they are what ends the alarm.
 *
 * Everything that waits for the broker while the link is down waits up to `connectTimeout` for it to come
 * back, then rejects with `ConnectionLostError`.
 */
export class Connection implements Interceptable, RawPublisher, MessageRecorder {
  /** The name of the service, as given to `connect`. */
  readonly name: string;
  /** What messages published here carry as their origin: `{name}@{hostname}`. */
  readonly origin: string;
  /** Who is told the numbers; does nothing unless `connect` was given one. */
  readonly observer: Observer;
  /** The time that it goes by: that of its transport, or the machine's. */
  readonly clock: Clock;
  /** Reads and writes the payloads wherever no other is given. */
  readonly codec: Codec;
  /** Does nothing until an adapter sets it. */
  tracing: Tracing = NO_TRACING;

  readonly #options: ResolvedConnectOptions;
  readonly #interceptors = new Interceptors();
  readonly #topology: RestoredTopology;
  readonly #consumers = new Set<Consumer>();
  readonly #listeners = new Set<(event: StateEvent) => void>();
  readonly #inFlight = new InFlight();
  readonly #publishTelemetry: PublishTelemetry;
  readonly #publishing: PublishLink;
  readonly #links: LinkPair;
  readonly #checkup: HealthCheckup;
  #closing: Promise<CloseReport> | undefined;

  private constructor(transport: Transport, options: ResolvedConnectOptions, clock: Clock) {
    this.#options = options;
    this.clock = clock;
    this.codec = options.codec;
    this.name = options.name;
    this.origin = options.origin;
    this.observer = options.observer;
    this.#publishTelemetry = new PublishTelemetry(options.observer);
    this.#publishing = new PublishLink({
      clock,
      confirmTimeout: options.confirmTimeout,
      permits: options.permits,
    });
    const { logger, reconnect: backoff } = options;
    this.#topology = new RestoredTopology({ clock, logger, backoff, link: () => this.#links.consume.link });
    this.#links = new LinkPair({
      transport,
      name: options.name,
      clock,
      logger,
      connectTimeout: options.connectTimeout,
      heartbeat: options.heartbeat,
      backoff,
      random: Math.random,
      restoreConsuming: (link) => this.#restore(link),
      changed: (event) => this.#changed(event),
    });
    this.#checkup = new HealthCheckup({
      clock,
      facts: () => this.#healthFacts(),
      links: () => this.#links.up,
    });
  }

  /** @internal Called by `connect`. */
  static async open(
    transport: Transport,
    options: ResolvedConnectOptions,
    clock: Clock,
    signal: AbortSignal | undefined,
  ): Promise<Connection> {
    const failures: string[] = [];
    let last: unknown;
    for (let endpoint = 0; endpoint < transport.endpoints.length; endpoint += 1) {
      refuseAborted(signal);
      const connection = new Connection(transport, options, clock);
      try {
        await connection.#open(endpoint, signal);
        return connection;
      } catch (error) {
        connection.#links.destroy();
        refuseAborted(signal);
        if (!(error instanceof ConnectError) && !(error instanceof ConnectionLostError)) throw error;
        if (error instanceof ConnectError && error.refused) throw error;
        last = error;
        failures.push(`${transport.endpoints[endpoint]}: ${error.message}`);
      }
    }
    if (failures.length === 1 && last instanceof ConnectError) throw last;
    throw new ConnectError(`no connection could be made: ${failures.join('; ')}`, { cause: last });
  }

  async #open(endpoint: number, signal: AbortSignal | undefined): Promise<void> {
    this.#publishing.attach(await this.#links.open(endpoint, signal));
    const { blockedReason } = this.#links.publish;
    if (blockedReason !== undefined) this.#publishing.block(blockedReason);
  }

  /**
   * The host and the port of the broker that a link leads to, `publish` by default; never a user or a password.
   * Undefined while that link is down, and on a broker that is not reached over a network. Each link finds its
   * own way back to a list of URLs, so the two may differ.
   */
  endpoint(link: LinkRole = 'publish'): BrokerEndpoint | undefined {
    return this.#links[link].link?.endpoint;
  }

  /** The worse of the states of its two links. */
  get state(): ConnectionState {
    return this.#links.state;
  }

  /**
   * Whether the broker has blocked publishing (a memory or disk alarm): true, false, or `null` where that
   * cannot be told because the link is down or closed. An idle publisher reads false: the broker says so to a
   * link that publishes.
   */
  get blocked(): boolean | null {
    const { publish } = this.#links;
    return publish.link === undefined ? null : publish.blocked;
  }

  /** The broker's words for the alarm, while `blocked`. */
  get blockedReason(): string | undefined {
    return this.#links.publish.blockedReason;
  }

  /**
   * Messages that were written, or are about to be, and are not confirmed. Copies that consumers make are
   * among them.
   */
  get outstanding(): number {
    return this.#publishing.outstanding;
  }

  /** The consumers that are open. */
  get consumers(): readonly Consumer[] {
    return [...this.#consumers];
  }

  /** Declarations that the broker refused when a lost link was restored; they are tried again. */
  get refusedDeclarations(): readonly RefusedDeclaration[] {
    return this.#topology.refused;
  }

  /**
   * Tells `listener` what happens to the connection, until the returned function is called. An error that it
   * throws is logged.
   */
  onState(listener: (event: StateEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /**
   * How the connection is. Asks the broker over both links whether a queue with a random name exists, which
   * creates nothing, unless the answer is known already (closed, blocked, or a link that is down). It costs a
   * round trip: for a readiness probe, not for every request.
   *
   * A blocked connection is `up`, with the reason. A consumer that does not read, a held message or a refused
   * declaration makes it `degraded`.
   *
   * Resolves within `timeout` (default 3 s), also when the broker says nothing. Rejects only with
   * `ConfigurationError`, for a `timeout` that is none.
   */
  async health(options: HealthOptions = {}): Promise<HealthReport> {
    return this.#checkup.report(healthTimeoutOf(options));
  }

  interceptPublish(interceptor: PublishInterceptor): () => void {
    return this.#interceptors.addPublish(interceptor);
  }

  interceptConsume(interceptor: ConsumeInterceptor): () => void {
    return this.#interceptors.addConsume(interceptor);
  }

  /**
   * Something to send messages with. Asks nothing of the broker. Throws `ConfigurationError` for an option it
   * cannot use.
   */
  publisher<T = unknown>(options: PublisherOptions<T> = {}): Publisher<T> {
    return new Publisher<T>(
      {
        origin: this.origin,
        clock: this.clock,
        publishing: this.#publishing,
        interceptors: this.#interceptors,
        telemetry: this.#publishTelemetry,
      },
      resolvePublisherOptions(options, this.codec),
    );
  }

  /**
   * Publishes bytes and headers as they are: past the codec, the interceptors and the publish metrics, but
   * not past the permits. What became of it is the answer; it rejects only for a destination that cannot be
   * used.
   */
  async publishRaw(exchange: string, routingKey: string, message: RawMessage): Promise<RawAnswer> {
    if (exchange !== '') checkName(exchange, 'exchange');
    checkRoutingKey(routingKey);
    const outbound = outboundOf(message);
    return new Promise((resolve) => {
      this.#publishing.publish(new RawPublish(exchange, routingKey, outbound, resolve));
    });
  }

  /** Encodes a payload as a publisher of this connection would. Throws `EncodeError`. */
  encode(payload: unknown, options: RecordOptions = {}): EncodedPayload {
    const codec = options.codec ?? this.codec;
    return { body: encodeWith(codec, payload), contentType: codec.contentType };
  }

  propagationHeaders(): Record<string, string> {
    return this.tracing.propagationHeaders();
  }

  /**
   * Works a queue. Resolves when the broker has accepted the subscription; from then on the consumer reads
   * until it is closed, over lost links and cancellations.
   *
   * Before it subscribes it declares what it needs besides the queue (see `declare`), and never the queue
   * itself.
   *
   * Rejects with `ConfigurationError` for an option that cannot be used, `BrokerRefusedError` (404 when the
   * queue is not there, 403 when reading it is not permitted), `TopologyError` when a queue it must declare
   * exists otherwise, and `ConnectionLostError`.
   */
  async consume<T = unknown>(
    queue: string,
    handler: Handler<T>,
    options: ConsumeOptions<T> = {},
  ): Promise<Consumer> {
    const resolved = resolveConsumeOptions(queue, options, this.#options);
    if (typeof handler !== 'function') {
      throw new ConfigurationError(
        `the handler must be a function that answers accept(), retry(), reject(), park() or inProgress(), and is ${shown(handler)}`,
      );
    }
    const link = await this.#link(options.signal);
    if ((await link.checkQueue(queue)) === undefined) {
      const declaring = `mq.declare(topology().queue(${JSON.stringify(queue)}))`;
      throw noQueue(
        queue,
        `there is nothing to consume; ${declaring} would declare the queue, a consumer does not`,
      );
    }
    this.#refuseClosed();
    this.#warnOfUnusedRungs(queue, resolved.ladder);
    const consumer = new Consumer({
      queue,
      handler: handler as Handler<unknown>,
      options: resolved,
      publishing: this.#publishing,
      telemetry: new ConsumeTelemetry(this.observer, queue, this.#inFlight),
      clock: this.clock,
      logger: this.#options.logger,
      random: Math.random,
      closeTimeout: this.#options.closeTimeout,
      interceptors: () => this.#interceptors.consume,
      link: () => this.#links.consume.link,
      closed: (one) => this.#consumers.delete(one),
    });
    this.#consumers.add(consumer);
    try {
      await consumer.subscribe(link);
    } catch (error) {
      this.#consumers.delete(consumer);
      await consumer.close({ timeout: 0 });
      throw error;
    }
    return consumer;
  }

  /**
   * Declares a topology, and again whenever a lost link is restored. To declare what is there already changes
   * nothing.
   *
   * What exists is compared first. Rejects with `TopologyError` (`ACEMQ_TOPOLOGY_DRIFT`), naming what differs
   * and both values, before anything is declared; with `BrokerRefusedError` for what the login may not do.
   * Resolves to how the plan stood before.
   */
  async declare(topology: TopologyBuilder | TopologyPlan): Promise<PlanReport> {
    const plan = planOf(topology);
    const link = await this.#link();
    const report = await inspectPlan(plan, link);
    if (report.drift) throw driftError(report);
    await declarePlan(plan, explaining(this.#topology.recordOn(link)));
    return report;
  }

  /** Says what declaring a topology would do, and changes nothing. */
  async plan(topology: TopologyBuilder | TopologyPlan): Promise<PlanReport> {
    return inspectPlan(planOf(topology), await this.#link());
  }

  /** Whether there is a queue of this name. Creates nothing. */
  async queueExists(queue: string): Promise<boolean> {
    checkQueueName(queue);
    return (await (await this.#link()).checkQueue(queue)) !== undefined;
  }

  /**
   * How many messages are ready in a queue: a snapshot, without those that are out unsettled. Rejects with
   * 404 when there is none.
   */
  async messageCount(queue: string): Promise<number> {
    checkQueueName(queue);
    const state = await (await this.#link()).checkQueue(queue);
    if (state === undefined) throw noQueue(queue, 'there is nothing to count');
    return state.messages;
  }

  /**
   * Deletes a queue and what it holds, and resolves to how many messages that were; 0 when there was none.
   */
  async deleteQueue(queue: string): Promise<number> {
    checkQueueName(queue);
    const link = await this.#link();
    this.#topology.forgetQueue(queue);
    return link.deleteQueue(queue);
  }

  /** Deletes an exchange; one that is not there is no error. */
  async deleteExchange(exchange: string): Promise<void> {
    const link = await this.#link();
    this.#topology.forgetExchange(exchange);
    await link.deleteExchange(exchange);
  }

  /**
   * Takes one message out of a queue, to be settled by the caller with its `ack()` or `nack()`; undefined
   * when the queue is empty. For tools; a service consumes.
   */
  async pull(queue: string): Promise<Delivery | undefined> {
    checkQueueName(queue);
    return (await this.#link()).pull(queue);
  }

  /**
   * Opens a channel to take messages out of a queue on, which can give them back all at once. It ends with the link: what was
   * taken on it is then in the queue again, and another is to be opened. For tools; a service consumes.
   */
  async openReader(queue: string): Promise<QueueReader> {
    checkQueueName(queue);
    return (await this.#link()).openReader(queue);
  }

  /**
   * Closes. Consumers stop: what they had not started goes back to its queue, and so does what waited here
   * for its retry. Then, under one deadline (`timeout`, default `closeTimeout`), running handlers are waited
   * for, and the confirms of every publish that was accepted. While a handler runs, sends are still
   * accepted, since it may have to publish to finish what it is at; once none does, which is at once where
   * none did, a `send` rejects with `ConnectionClosedError`. A consumer with `closesLast` reads until then.
   *
   * Past the deadline the handlers' signals are aborted and what is left stays unsettled or unconfirmed. A
   * second call gives the first's answer. Rejects only with `ConfigurationError`, for a `timeout` that is
   * none.
   */
  async close(options: CloseOptions = {}): Promise<CloseReport> {
    const timeout = closeTimeoutOf(options, this.#options.closeTimeout);
    this.#closing ??= this.#close(timeout);
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close().then(() => undefined);
  }

  /** The name, the state and the counts; never an address or a password. */
  toString(): string {
    return `Connection(${this.name}, ${this.state}, ${this.#consumers.size} consumers, ${this.outstanding} outstanding)`;
  }

  async #close(timeout: number): Promise<CloseReport> {
    let timer: Timer | undefined;
    const deadline = new Promise<void>((resolve) => {
      timer = this.clock.after(timeout, resolve);
    });
    this.#topology.stop();
    const consumers = [...this.#consumers];
    if (consumers.every((consumer) => consumer.inFlight === 0)) this.#publishing.stop();
    const reports: ConsumerCloseReport[] = [];
    for (const last of [false, true]) {
      const these = consumers.filter((consumer) => consumer.closesLast === last);
      reports.push(...(await Promise.all(these.map((consumer) => consumer.closeBy(deadline)))));
    }
    this.#publishing.stop();
    await Promise.race([this.#publishing.settled(), deadline]);
    const unconfirmed = this.#publishing.outstanding + this.#publishing.waiting;
    this.#publishing.abandon();
    await this.#links.close(deadline);
    timer?.cancel();
    const unsettled = reports.reduce((sum, report) => sum + report.unsettled, 0);
    this.#tell({ type: 'closed' });
    this.#listeners.clear();
    return Object.freeze({ finished: unsettled === 0 && unconfirmed === 0, unsettled, unconfirmed });
  }

  #refuseClosed(): void {
    if (this.#closing !== undefined) throw new ConnectionClosedError('the connection has been closed');
  }

  /** The link to ask and declare on, once it is up. */
  async #link(signal?: AbortSignal): Promise<Link> {
    this.#refuseClosed();
    return this.#links.consuming(signal);
  }

  /** The policy is said twice, to the topology and to the consumer; the second is easily forgotten. */
  #warnOfUnusedRungs(queue: string, ladder: RetryLadder): void {
    if (!ladder.isEmpty || !this.#topology.hasRungsOf(queue)) return;
    this.#options.logger.warn(
      'a queue was declared with rungs, and its consumer has no retry policy that uses them; ' +
        'give consume the same policy as the topology',
      { queue },
    );
  }

  async #restore(link: Link): Promise<void> {
    await this.#topology.restoreOn(link);
    await Promise.all([...this.#consumers].map((consumer) => consumer.restore(link)));
  }

  #healthFacts(): HealthFacts {
    return {
      now: this.clock.now(),
      closed: this.#closing !== undefined,
      state: this.state,
      links: this.#links.standings,
      blocked: this.blocked,
      blockedReason: this.blockedReason,
      consumers: this.consumers,
      refused: this.#topology.refused,
    };
  }

  #changed(event: StateEvent): void {
    if (event.type !== 'closed' && event.link === 'publish') {
      if (event.type === 'lost') {
        this.#publishing.detach();
      } else if (event.type === 'blocked') {
        this.#publishing.block(event.reason);
      } else if (event.type === 'unblocked') {
        this.#publishing.unblock();
      } else if (event.type === 'recovered') {
        const { link, blockedReason } = this.#links.publish;
        if (link !== undefined) this.#publishing.attach(link);
        if (blockedReason !== undefined) this.#publishing.block(blockedReason);
      }
    }
    this.#log(event);
    this.#tell(event);
  }

  #log(event: StateEvent): void {
    const { logger } = this.#options;
    const { type, ...details } = event;
    if (type === 'lost') logger.warn('the connection to the broker was lost', details);
    else if (type === 'blocked') logger.warn('the broker has blocked publishing', details);
    else logger.info(`the connection is ${type}`, details);
  }

  #tell(event: StateEvent): void {
    for (const listener of [...this.#listeners]) {
      tell(listener, event, (error) => {
        this.#options.logger.error('a listener of the connection failed', { event: event.type, error });
      });
    }
  }
}

inspectedAsText(Connection);

function refuseAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw new AbortedError('connecting was aborted', { cause: signal.reason });
}

function planOf(topology: TopologyBuilder | TopologyPlan): TopologyPlan {
  const given: unknown = topology;
  if (typeof given === 'object' && given !== null) {
    if ('plan' in topology) return topology.plan();
    const { exchanges, queues, bindings } = topology as Partial<TopologyPlan>;
    if (Array.isArray(exchanges) && Array.isArray(queues) && Array.isArray(bindings)) return topology;
  }
  throw new ConfigurationError(`a topology is what topology() makes, or its plan(), and not ${shown(given)}`);
}

function noQueue(queue: string, what: string): BrokerRefusedError {
  return new BrokerRefusedError(REPLY_NOT_FOUND, `NOT_FOUND - no queue '${queue}'`, { what });
}
