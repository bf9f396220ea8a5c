import type { Socket } from 'node:net';
import type { Clock } from '@acemq/core';
import { NameReader } from './connection-name.ts';
import type { CutOptions, FaultConnection, FaultCounts, FaultDirection } from './controls.ts';
import { Flow, type FlowSettings, reset } from './flow.ts';
import { SettingsByDirection } from './settings-by-direction.ts';
import { checkCut } from './value-checks.ts';

/** The two sockets of a connection, and what passes between them. */
export class ProxiedConnection extends SettingsByDirection implements FaultConnection {
  readonly id: number;
  readonly closed: Promise<void>;
  name: string | undefined;
  readonly #client: Socket;
  readonly #broker: Socket;
  readonly #flows: Readonly<Record<FaultDirection, Flow>>;
  #sockets = 2;

  constructor(
    id: number,
    client: Socket,
    broker: Socket,
    clock: Clock,
    framed: boolean,
    named: (connection: ProxiedConnection) => void,
  ) {
    super(framed);
    this.id = id;
    this.#client = client;
    this.#broker = broker;
    const cut = (options: CutOptions): void => this.cut(options);
    const toBroker = new Flow(client, broker, clock, framed, cut);
    const toClient = new Flow(broker, client, clock, framed, cut);
    this.#flows = { toBroker, toClient };
    const reader = framed ? new NameReader() : undefined;
    client.on('data', (bytes) => {
      const name = reader?.hear(bytes);
      if (name !== undefined) {
        this.name = name;
        named(this);
      }
      toBroker.arrive(bytes);
    });
    broker.on('data', (bytes) => toClient.arrive(bytes));
    this.closed = new Promise((resolve) => {
      const gone = (): void => {
        this.#sockets -= 1;
        if (this.#sockets === 0) resolve();
      };
      watch(client, toBroker, toClient, gone);
      watch(broker, toClient, toBroker, gone);
    });
  }

  get open(): boolean {
    return this.#sockets > 0;
  }

  get bytes(): FaultCounts {
    const { toBroker, toClient } = this.#flows;
    return { toBroker: toBroker.bytes, toClient: toClient.bytes };
  }

  get frames(): FaultCounts {
    const { toBroker, toClient } = this.#flows;
    return { toBroker: toBroker.frames, toClient: toClient.frames };
  }

  cut(options: CutOptions = {}): void {
    const { how, side } = checkCut('cut', options);
    this.#flows.toBroker.stop();
    this.#flows.toClient.stop();
    const sockets = { client: [this.#client], broker: [this.#broker], both: [this.#client, this.#broker] };
    for (const socket of sockets[side ?? 'both']) {
      if (how === 'rst') reset(socket);
      else socket.end();
    }
  }

  /** Leaves no socket, whatever the ends do. */
  destroy(): void {
    this.#flows.toBroker.stop();
    this.#flows.toClient.stop();
    this.#client.destroy();
    this.#broker.destroy();
  }

  change(direction: FaultDirection, settings: Partial<FlowSettings>): void {
    const flow = this.#flows[direction];
    flow.settings = { ...flow.settings, ...settings };
  }

  changeFromStart(direction: FaultDirection, settings: Partial<FlowSettings>): void {
    this.change(direction, settings);
  }
}

/** Passes the end of a socket on in `from`, and ends `to`, which nobody hears any more. */
function watch(socket: Socket, from: Flow, to: Flow, gone: () => void): void {
  socket.on('end', () => from.end('fin'));
  // Whatever happened to the one side is what the other side is to see; there is nobody else to tell.
  socket.on('error', () => from.end('rst'));
  socket.on('close', () => {
    to.stop();
    gone();
  });
}
