import type { OutboxChange } from './store.ts';

/** Who wants to know what is written through a store. */
export class Changes {
  readonly #listeners = new Set<(change: OutboxChange) => void>();

  watch(listener: (change: OutboxChange) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  tell(change: OutboxChange): void {
    for (const listener of this.#listeners) listener(change);
  }
}
