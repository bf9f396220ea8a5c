import type { WakeLine } from './store.ts';

/** What is asked of a client of `pg` that listens. */
export interface PgListeningClient {
  query(text: string): Promise<unknown>;
  on(event: 'notification', listener: (message: { readonly payload?: string | undefined }) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  release(destroy?: Error | boolean): void;
}

/** What a {@link PgWakeLine} is made with. */
export interface PgWakeLineParts {
  readonly client: PgListeningClient;
  readonly channel: string;
  /** What a notification says that is meant for this relay. */
  readonly relay: string;
  readonly wake: () => void;
  readonly warn: (message: string, error?: unknown) => void;
  readonly asleep: (asleep: boolean) => Promise<void>;
  /** Notifies the channel over another connection. */
  readonly probe: (text: string) => Promise<void>;
}

/** In milliseconds: a notification takes a few. */
const LONGEST_PROBE = 2000;

const PROXIED =
  'a notification of PostgreSQL did not arrive: is there a proxy that hands each transaction another connection? The relay looks at its interval instead. Give the store notify: false to say so';

/** A connection that listens for commits. */
export class PgWakeLine implements WakeLine {
  readonly #parts: PgWakeLineParts;
  #open = true;
  /** Whether notifications arrive at all. */
  #works = true;

  private constructor(parts: PgWakeLineParts) {
    this.#parts = parts;
  }

  /** Listens, and finds out in the background whether notifications arrive. */
  static async open(parts: PgWakeLineParts): Promise<PgWakeLine> {
    const line = new PgWakeLine(parts);
    const { client, channel, warn, wake } = parts;
    const text = `probe ${Math.random()}`;
    const timer = setTimeout(() => {
      if (!line.#open) return;
      line.#works = false;
      warn(PROXIED);
      parts.asleep(false).catch(() => undefined); // At worst commits go on notifying nobody.
    }, LONGEST_PROBE);
    timer.unref();
    client.on('error', (error) => {
      clearTimeout(timer);
      if (!line.#open) return;
      line.#open = false;
      client.release(true);
      warn('the connection that listens for commits was lost; the relay opens another', error);
      wake();
    });
    client.on('notification', ({ payload }) => {
      if (payload === text) clearTimeout(timer);
      // What is in another relay's lanes wakes that one.
      else if (line.#open && payload === parts.relay) wake();
    });
    try {
      await client.query(`listen "${channel}"`);
      await parts.probe(text);
    } catch (error) {
      clearTimeout(timer);
      if (line.#open) client.release(true);
      line.#open = false;
      throw error;
    }
    return line;
  }

  async asleep(asleep: boolean): Promise<void> {
    if (this.#works || !asleep) await this.#parts.asleep(asleep);
  }

  async close(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    // Not handed out again: it would go on listening.
    this.#parts.client.release(true);
  }
}
