/** How many are remembered: a reply that comes after so many others is an unknown one. */
const MOST = 10_000;

/** The ids of requests whose reply nobody waits for any more. Past {@link MOST} the oldest are forgotten. */
export class GivenUp {
  readonly #ids = new Set<string>();

  add(id: string): void {
    this.#ids.add(id);
    if (this.#ids.size <= MOST) return;
    for (const oldest of this.#ids) {
      this.#ids.delete(oldest);
      return;
    }
  }

  /** Whether it is one of them. It is forgotten then: what comes after its reply is a repetition. */
  take(id: string): boolean {
    return this.#ids.delete(id);
  }
}
