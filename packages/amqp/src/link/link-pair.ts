import { AbortedError, type Clock, ConnectionLostError, type Link, type Timer } from '@acemq/core';
import { type ConnectionState, type LinkRole, type StateEvent, worseState } from '../states.ts';
import { SupervisedLink, type SupervisedLinkOptions } from './supervised-link.ts';

/** How long a link may take for its goodbyes when the deadline of a close has passed already, in milliseconds. */
const POLITE = 500;

/** What a {@link LinkPair} is made with: what both links have, and what each does. */
export interface LinkPairOptions extends Omit<SupervisedLinkOptions, 'role' | 'name' | 'restore'> {
  /** Of the service; the broker shows `{name} publish` and `{name} consume`. */
  readonly name: string;
  readonly restoreConsuming: (link: Link) => Promise<void>;
}

/** How one link stands. */
export interface LinkStanding {
  readonly role: LinkRole;
  readonly state: ConnectionState;
  /** Why it is not up, as far as is known. */
  readonly reason: string | undefined;
}

/**
 * The two links of a connection: one publishes, the other consumes, asks and declares. Each is supervised by itself.
 */
export class LinkPair {
  readonly publish: SupervisedLink;
  readonly consume: SupervisedLink;
  readonly #clock: Clock;
  readonly #connectTimeout: number;
  readonly #reasons = new Map<LinkRole, string>();

  constructor(options: LinkPairOptions) {
    const { name, restoreConsuming, changed, ...shared } = options;
    this.#clock = options.clock;
    this.#connectTimeout = options.connectTimeout;
    const noted = (event: StateEvent): void => {
      this.#note(event);
      changed(event);
    };
    const both = { ...shared, changed: noted };
    this.publish = new SupervisedLink({
      ...both,
      role: 'publish',
      name: `${name} publish`,
      restore: nothing,
    });
    this.consume = new SupervisedLink({
      ...both,
      role: 'consume',
      name: `${name} consume`,
      restore: restoreConsuming,
    });
  }

  /** The worse of the two states. */
  get state(): ConnectionState {
    return worseState(this.publish.state, this.consume.state);
  }

  /** How each stands. */
  get standings(): readonly LinkStanding[] {
    return [
      { role: 'publish', state: this.publish.state, reason: this.#reasons.get('publish') },
      { role: 'consume', state: this.consume.state, reason: this.#reasons.get('consume') },
    ];
  }

  /** Both links, while both are up. */
  get up(): readonly Link[] | undefined {
    const publish = this.publish.link;
    const consume = this.consume.link;
    return publish === undefined || consume === undefined ? undefined : [publish, consume];
  }

  /** Dials both, once, at one endpoint: what one declares the other sees at once. Resolves to the publishing link. */
  async open(endpoint: number, signal: AbortSignal | undefined): Promise<Link> {
    const { publish, consume } = this;
    // Both are waited for, so that none is still being dialled when the other's failure is reported.
    const opened = await Promise.allSettled([publish.open(endpoint, signal), consume.open(endpoint, signal)]);
    for (const one of opened) if (one.status === 'rejected') throw one.reason;
    const link = publish.link;
    if (link === undefined || consume.link === undefined) {
      throw new ConnectionLostError('the connection was lost as soon as it was made');
    }
    return link;
  }

  /** The consuming link: at once, or when it is up again, for which it is given as long as for connecting. */
  async consuming(signal?: AbortSignal): Promise<Link> {
    if (signal?.aborted === true) {
      throw new AbortedError('the wait for the connection was aborted', { cause: signal.reason });
    }
    if (this.consume.link !== undefined) return this.consume.link;
    const waiting = new AbortController();
    const timer = this.#clock.after(this.#connectTimeout, () => waiting.abort());
    try {
      return await this.consume.up(
        signal === undefined ? waiting.signal : AbortSignal.any([signal, waiting.signal]),
      );
    } catch (error) {
      if (!waiting.signal.aborted) throw error;
      throw new ConnectionLostError(`there has been no connection for ${this.#connectTimeout} ms`);
    } finally {
      timer.cancel();
    }
  }

  /** Politely, and then not: a broker that has stopped answering must not keep a close waiting past its deadline. */
  async close(deadline: Promise<void>): Promise<void> {
    let timer: Timer | undefined;
    const politely = deadline.then(
      () =>
        new Promise<void>((resolve) => {
          timer = this.#clock.after(POLITE, resolve, { background: true });
        }),
    );
    await Promise.race([Promise.all([this.publish.close(), this.consume.close()]), politely]);
    timer?.cancel();
    this.destroy();
  }

  /** Drops both without a word. */
  destroy(): void {
    this.publish.destroy();
    this.consume.destroy();
  }

  #note(event: StateEvent): void {
    if (event.type === 'lost' || event.type === 'retrying') this.#reasons.set(event.link, event.reason);
    else if (event.type === 'recovered') this.#reasons.delete(event.link);
  }
}

/** The publishing link has nothing to restore: its channels are opened by the first publish to their exchange. */
async function nothing(): Promise<void> {}
