import { ConfigurationError, ConnectError, type DialRequest, type Link, type Transport } from '@acemq/core';
import { type Connection, connect, credentials } from 'amqplib/callback_api';
import { connectErrorOf, isClosedAtOpen } from './connect-error.ts';
import { type Endpoint, labelOf, readEndpoints } from './endpoints.ts';
import { AmqplibLink } from './link.ts';
import { LinkState } from './link-state.ts';
import { replyAtOpen } from './open-reply.ts';
import { type AmqplibOptions, type Credentials, readSettings, type Settings } from './options.ts';
import type { Reply } from './refusal.ts';

/** Milliseconds of silence after which the operating system asks whether the other side is still there. */
const KEEP_ALIVE = 30_000;

/** The most seconds that a heartbeat may be agreed on: AMQP has 16 bits for it. */
const LONGEST_HEARTBEAT = 0xffff;

/**
 * RabbitMQ over amqplib, as a transport.
 *
 * `target` is a URL or a list of them: `amqp://[user:password@]host[:port][/vhost]`, or `amqps://` for TLS.
 * User, password and vhost are percent-encoded; without a user it is `guest` with password `guest`, without a
 * vhost `/`. A query is refused: what other clients put there is an option here.
 *
 * Nothing is dialled. Throws `ConfigurationError` for a URL or an option that cannot be used; no message
 * names more of a URL than its scheme.
 */
export function amqplibTransport(
  target: string | readonly string[],
  options: AmqplibOptions = {},
): Transport {
  return new AmqplibTransport(target, options);
}

/** The URLs and settings are private fields, so that printing a transport prints no password. */
class AmqplibTransport implements Transport {
  readonly name = 'amqp';
  readonly endpoints: readonly string[];
  readonly #targets: readonly Endpoint[];
  readonly #settings: Settings;

  constructor(target: string | readonly string[], options: AmqplibOptions) {
    this.#targets = readEndpoints(target);
    this.#settings = readSettings(options, this.#targets);
    this.endpoints = Object.freeze(
      this.#targets.map((endpoint) => labelOf(endpoint, this.#vhostOf(endpoint))),
    );
  }

  toString(): string {
    return `amqp transport to ${this.endpoints.join(', ')}`;
  }

  async dial(request: DialRequest): Promise<Link> {
    const endpoint = this.#targets[request.endpoint];
    const label = this.endpoints[request.endpoint];
    if (endpoint === undefined || label === undefined) {
      throw new ConfigurationError(
        `endpoint is ${request.endpoint}; allowed: 0 to ${this.#targets.length - 1}`,
      );
    }
    const state = new LinkState(label, Object.freeze({ host: endpoint.host, port: endpoint.port }));
    const bound = boundOf(request, label);
    try {
      const login = await Promise.race([this.#login(endpoint, label), bound.reached]);
      return await Promise.race([this.#open(endpoint, login, request, state), bound.reached]);
    } catch (error) {
      // Nobody is to hear of the loss of a link that was never handed over.
      state.close();
      state.drop(error);
      throw error;
    } finally {
      bound.lift();
    }
  }

  #vhostOf(endpoint: Endpoint): string {
    return this.#settings.vhost ?? endpoint.vhost ?? '/';
  }

  async #login(endpoint: Endpoint, label: string): Promise<Credentials> {
    const ask = this.#settings.credentials;
    if (ask === undefined) return endpoint;
    let login: Credentials;
    try {
      login = await ask();
    } catch (error) {
      throw new ConnectError(`cannot connect to ${label}: the function credentials failed`, { cause: error });
    }
    if (typeof login?.username !== 'string' || typeof login.password !== 'string') {
      throw new ConfigurationError('credentials must return { username, password }, two strings');
    }
    return login;
  }

  #open(endpoint: Endpoint, login: Credentials, request: DialRequest, state: LinkState): Promise<Link> {
    const { frameMax, channelMax, tls } = this.#settings;
    const url = {
      protocol: endpoint.secure ? 'amqps' : 'amqp',
      hostname: endpoint.host,
      port: endpoint.port,
      // amqplib decodes it, as if it came out of a URL.
      vhost: encodeURIComponent(this.#vhostOf(endpoint)),
      heartbeat: heartbeatSeconds(request.heartbeat),
      frameMax,
      channelMax,
    };
    const options = {
      ...(endpoint.secure ? tls : {}),
      signal: state.signal,
      noDelay: true,
      keepAlive: true,
      keepAliveDelay: KEEP_ALIVE,
      credentials: credentials.plain(login.username, login.password),
      clientProperties: { connection_name: request.name },
    };
    return new Promise((resolve, reject) => {
      const opened = (error: Error | null, model: Connection): void => {
        if (isClosedAtOpen(error)) {
          this.#reply(endpoint, login, state).then(
            (reply) => reject(connectErrorOf(error, state.label, reply)),
            () => reject(connectErrorOf(error, state.label)),
          );
          return;
        }
        if (error) {
          reject(connectErrorOf(error, state.label));
          return;
        }
        const link = new AmqplibLink(model, state, request.events);
        link.begin().then(
          () => resolve(link),
          (failure) => reject(connectErrorOf(state.reason ?? failure, state.label)),
        );
      };
      try {
        connect(url, options, opened);
      } catch (error) {
        reject(connectErrorOf(error, state.label));
      }
    });
  }

  #reply(endpoint: Endpoint, login: Credentials, state: LinkState): Promise<Reply | undefined> {
    const { tls } = this.#settings;
    return replyAtOpen({ endpoint, tls, login, vhost: this.#vhostOf(endpoint), signal: state.signal });
  }
}

/** Whole seconds, as AMQP has them: at least 1, so that a short interval does not become none. */
function heartbeatSeconds(milliseconds: number): number {
  return milliseconds === 0 ? 0 : Math.min(Math.max(Math.round(milliseconds / 1000), 1), LONGEST_HEARTBEAT);
}

/** One bound over everything that a dial waits for. */
interface Bound {
  /** Rejects when the time is up or the caller's signal says so; never resolves. */
  readonly reached: Promise<never>;
  lift(): void;
}

function boundOf(request: DialRequest, label: string): Bound {
  const { signal, timeout } = request;
  let lift = (): void => {};
  const reached = new Promise<never>((_, reject) => {
    const abort = (): void => {
      reject(
        new ConnectError(`cannot connect to ${label}: the attempt was aborted`, { cause: signal?.reason }),
      );
    };
    const timer = setTimeout(() => {
      reject(new ConnectError(`cannot connect to ${label}: no answer within ${timeout} ms`));
    }, timeout);
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted) abort();
    lift = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    };
  });
  reached.catch(() => {});
  return { reached, lift: () => lift() };
}
