import type { Clock, Timer } from './clock.ts';

/** The longest wait that one `setTimeout` can hold: past it, Node fires at once. */
const LONGEST_TIMEOUT = 2 ** 31 - 1;

class SystemTimer implements Timer {
  readonly #work: () => void;
  readonly #background: boolean;
  readonly #due: number;
  #handle: ReturnType<typeof setTimeout> | undefined;

  constructor(ms: number, work: () => void, background: boolean) {
    this.#work = work;
    this.#background = background;
    this.#due = performance.now() + ms;
    this.#set(ms);
  }

  #set(ms: number): void {
    // A timer of Node may fire up to a millisecond early, so what is left is asked again when it fires.
    this.#handle = setTimeout(this.#fired, Math.min(Math.ceil(ms), LONGEST_TIMEOUT));
    if (this.#background) this.#handle.unref();
  }

  readonly #fired = (): void => {
    const left = this.#due - performance.now();
    if (left > 0) {
      this.#set(left);
      return;
    }
    this.#handle = undefined;
    this.#work();
  };

  cancel(): void {
    clearTimeout(this.#handle);
    this.#handle = undefined;
  }
}

/** The machine's own time: `Date.now()` and `setTimeout`, with waits of any length. */
export const systemClock: Clock = Object.freeze({
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after(ms: number, work: () => void, options: { readonly background?: boolean } = {}): Timer {
    return new SystemTimer(Math.max(0, ms), work, options.background === true);
  },
});
