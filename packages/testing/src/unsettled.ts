import type { MemoryDelivery } from './delivery.ts';
import type { MemoryQueue } from './queue.ts';

/** The deliveries of one channel that are not settled, oldest first. */
export class Unsettled {
  readonly #deliveries = new Set<MemoryDelivery>();

  get size(): number {
    return this.#deliveries.size;
  }

  get oldest(): MemoryDelivery | undefined {
    for (const delivery of this.#deliveries) return delivery;
    return undefined;
  }

  has(delivery: MemoryDelivery): boolean {
    return this.#deliveries.has(delivery);
  }

  add(delivery: MemoryDelivery): void {
    this.#deliveries.add(delivery);
  }

  delete(delivery: MemoryDelivery): void {
    this.#deliveries.delete(delivery);
  }

  /** The channel is gone: all of them go back to their queues, in the order in which they came. */
  giveBack(): void {
    const queues = new Set<MemoryQueue>();
    for (const { queue, entry } of this.#deliveries) {
      queue.giveBack(entry, 'channel');
      queues.add(queue);
    }
    this.#deliveries.clear();
    for (const queue of queues) queue.move();
  }
}
