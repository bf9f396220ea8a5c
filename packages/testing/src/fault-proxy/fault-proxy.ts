import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { type Clock, ConfigurationError, ConnectionClosedError, systemClock } from '@acemq/core';
import { ProxiedConnection } from './connection.ts';
import type {
  CutOptions,
  FaultConnection,
  FaultDirection,
  FaultProxy,
  FaultProxyOptions,
} from './controls.ts';
import { type FlowSettings, UNDISTURBED } from './flow.ts';
import { SettingsByDirection } from './settings-by-direction.ts';
import { type Target, targetOf } from './target.ts';
import { checkCut } from './value-checks.ts';

const LOCAL = '127.0.0.1';
const KNOWN_OPTIONS = ['port', 'clock'];

type Listener = (connection: FaultConnection) => void;

class TcpFaultProxy extends SettingsByDirection implements FaultProxy {
  port: number;
  accepted = 0;
  readonly #target: Target;
  readonly #clock: Clock;
  readonly #live = new Set<ProxiedConnection>();
  readonly #onConnection = new Set<Listener>();
  readonly #onNamed = new Set<Listener>();
  readonly #settings: Record<FaultDirection, FlowSettings> = { toBroker: UNDISTURBED, toClient: UNDISTURBED };
  readonly #named = (connection: FaultConnection): void => {
    for (const listener of this.#onNamed) listener(connection);
  };
  #server: Server | undefined;
  #closing: Promise<void> | undefined;

  constructor(target: Target, port: number, clock: Clock) {
    super(target.framed);
    this.#target = target;
    this.port = port;
    this.#clock = clock;
  }

  get url(): string {
    return this.#target.through(this.port);
  }

  get connections(): readonly FaultConnection[] {
    return [...this.#live];
  }

  cut(options: CutOptions = {}): void {
    checkCut('cut', options);
    for (const connection of this.#live) connection.cut(options);
  }

  protected change(direction: FaultDirection, settings: Partial<FlowSettings>): void {
    this.changeFromStart(direction, settings);
    for (const connection of this.#live) connection.change(direction, settings);
  }

  protected changeFromStart(direction: FaultDirection, settings: Partial<FlowSettings>): void {
    this.#settings[direction] = { ...this.#settings[direction], ...settings };
  }

  refuse(): void {
    this.#server?.close();
    this.#server = undefined;
  }

  async accept(): Promise<void> {
    if (this.#closing !== undefined) throw new ConnectionClosedError('the fault proxy is closed');
    if (this.#server !== undefined) return;
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => this.#proxy(client));
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      const failed = (error: Error): void => {
        this.#server = undefined;
        reject(error);
      };
      server.once('error', failed);
      // `refuse()` and `close()` may come before it listens.
      server.once('close', resolve);
      server.listen(this.port, LOCAL, () => {
        server.off('error', failed);
        // A connection that could not be accepted: the client sees that for itself.
        server.on('error', () => {});
        this.port = (server.address() as AddressInfo).port;
        resolve();
      });
    });
  }

  #proxy(client: Socket): void {
    const { host, port, framed } = this.#target;
    const broker = connect({ host, port, allowHalfOpen: true, noDelay: true });
    this.accepted += 1;
    const connection = new ProxiedConnection(this.accepted, client, broker, this.#clock, framed, this.#named);
    this.#live.add(connection);
    void connection.closed.then(() => this.#live.delete(connection));
    connection.change('toBroker', this.#settings.toBroker);
    connection.change('toClient', this.#settings.toClient);
    for (const listener of this.#onConnection) listener(connection);
  }

  onConnection(listener: Listener): () => void {
    return listen(this.#onConnection, listener);
  }

  onNamed(listener: Listener): () => void {
    return listen(this.#onNamed, listener);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.refuse();
    const live = [...this.#live];
    for (const connection of live) connection.destroy();
    await Promise.all(live.map((connection) => connection.closed));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function listen(listeners: Set<Listener>, listener: Listener): () => void {
  // A function of its own, so that the same listener given twice is called twice and ended once.
  const own: Listener = (connection) => listener(connection);
  listeners.add(own);
  return () => {
    listeners.delete(own);
  };
}

/**
 * Opens a TCP proxy on this machine in front of the broker at `url` (`amqp:` or `amqps:`, here or elsewhere),
 * so that a test can make the network between a service and its broker fail. Resolves when it listens; the
 * broker is dialled when a client connects, and need not be there before.
 *
 * With `amqps:` bytes are passed on as they are: the broker's certificate will be presented for 127.0.0.1,
 * and frames and names are not seen.
 *
 * Rejects with `ConfigurationError` for a URL, an option or a port it does not take, and with the system's
 * error when the port cannot be had.
 */
export async function faultProxy(url: string, options: FaultProxyOptions = {}): Promise<FaultProxy> {
  const target = targetOf(url);
  const unknown = Object.keys(options).find((name) => !KNOWN_OPTIONS.includes(name));
  if (unknown !== undefined) {
    throw new ConfigurationError(
      `faultProxy: unknown option '${unknown}'; it takes ${KNOWN_OPTIONS.join(', ')}`,
    );
  }
  const { port = 0, clock = systemClock } = options;
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new ConfigurationError(`faultProxy: port: ${port} is not an integer of 0 to 65535`);
  }
  const proxy = new TcpFaultProxy(target, port, clock);
  await proxy.accept();
  return proxy;
}
