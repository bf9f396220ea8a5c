/** Those who wait for a pass to be over, and what came of it. */
export class Passes {
  #asked: Waiting[] = [];
  #under: Waiting[] = [];
  #marked = 0;
  #error: { readonly error: unknown } | undefined;

  /** Whether somebody waits. */
  get isAsked(): boolean {
    return this.#asked.length > 0 || this.#under.length > 0;
  }

  /** Resolves when a pass that begins from now on is over. */
  ask(): Promise<number> {
    return new Promise((resolve, reject) => this.#asked.push({ resolve, reject }));
  }

  /** The next turn begins: it is part of the pass of whoever has asked by now. */
  begin(): void {
    if (this.#asked.length === 0) return;
    if (this.#under.length === 0) {
      this.#marked = 0;
      this.#error = undefined;
    }
    this.#under.push(...this.#asked.splice(0));
  }

  count(marked: number): void {
    this.#marked += marked;
  }

  /** Something failed in the pass; the first is told. */
  failed(error: unknown): void {
    this.#error ??= { error };
  }

  /** Nothing is left to do. */
  over(): void {
    if (this.#error !== undefined) this.#reject(this.#error.error);
    else for (const one of this.#under.splice(0)) one.resolve(this.#marked);
  }

  /** The pass cannot go on. */
  end(error: unknown): void {
    this.begin();
    this.#reject(error);
  }

  #reject(error: unknown): void {
    for (const one of this.#under.splice(0)) one.reject(error);
  }
}

interface Waiting {
  readonly resolve: (marked: number) => void;
  readonly reject: (error: unknown) => void;
}
