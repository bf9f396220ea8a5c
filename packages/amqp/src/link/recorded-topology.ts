import {
  BrokerRefusedError,
  type DeclareTarget,
  type ExchangeSpec,
  type Link,
  type QueueSpec,
} from '@acemq/core';

/** One thing this connection declared and declares again after a lost link. */
interface Recorded {
  /** For a log line: `queue orders.new`. */
  readonly what: string;
  readonly declare: (link: Link) => Promise<void>;
}

/** A recorded declaration that the broker refused while restoring. */
export interface RefusedDeclaration {
  readonly what: string;
  readonly reason: string;
}

/**
 * What a connection has declared, so that it can be declared again: exchanges, then queues, then bindings,
 * each in the order of the first declaration. Deleted queues are forgotten, since nothing would be worse than
 * a reconnect that brings back a queue that was deleted on purpose.
 */
export class RecordedTopology {
  readonly #exchanges = new Map<string, Recorded>();
  readonly #queues = new Map<string, Recorded>();
  readonly #bindings = new Map<string, Recorded & { readonly queue: string; readonly exchange: string }>();

  /** A target that declares on `link` and remembers what the broker accepted. */
  recordOn(link: Link): DeclareTarget {
    return {
      declareExchange: async (name: string, spec: ExchangeSpec): Promise<void> => {
        await link.declareExchange(name, spec);
        this.#exchanges.set(name, {
          what: `exchange ${name}`,
          declare: (again) => again.declareExchange(name, spec),
        });
      },
      declareQueue: async (name: string, spec: QueueSpec): Promise<void> => {
        await link.declareQueue(name, spec);
        this.#queues.set(name, { what: `queue ${name}`, declare: (again) => again.declareQueue(name, spec) });
      },
      bind: async (queue: string, exchange: string, routingKey: string): Promise<void> => {
        await link.bind(queue, exchange, routingKey);
        this.#bindings.set(JSON.stringify([queue, exchange, routingKey]), {
          what: `binding of ${queue} to ${exchange} on ${JSON.stringify(routingKey)}`,
          queue,
          exchange,
          declare: (again) => again.bind(queue, exchange, routingKey),
        });
      },
    };
  }

  /** Whether a queue was declared whose name is what is looked for. */
  hasQueue(named: (name: string) => boolean): boolean {
    return [...this.#queues.keys()].some(named);
  }

  forgetQueue(name: string): void {
    this.#queues.delete(name);
    for (const [key, binding] of this.#bindings) if (binding.queue === name) this.#bindings.delete(key);
  }

  forgetExchange(name: string): void {
    this.#exchanges.delete(name);
    for (const [key, binding] of this.#bindings) if (binding.exchange === name) this.#bindings.delete(key);
  }

  /**
   * Declares everything again. Resolves to what the broker refused: one refusal keeps nothing else from being
   * restored. Rejects only when the link itself is gone.
   */
  async restoreOn(link: Link): Promise<RefusedDeclaration[]> {
    const refused: RefusedDeclaration[] = [];
    for (const kind of [this.#exchanges, this.#queues, this.#bindings]) {
      for (const recorded of [...kind.values()]) {
        try {
          await recorded.declare(link);
        } catch (error) {
          if (!(error instanceof BrokerRefusedError)) throw error;
          refused.push({ what: recorded.what, reason: error.message });
        }
      }
    }
    return refused;
  }
}
