import type { Progress } from '@acemq/patterns/replay';
import { plainText, type Surroundings, time } from '@acemq/terminal';
import { cut } from './words.ts';

const CLEAR_LINE = '\r\u001b[K';

/** Milliseconds between two lines where nothing can be drawn over. */
const LINE_EVERY = 5_000;

/** Long work is told of after this many milliseconds: what is over sooner needs no progress. */
const PATIENCE = 500;

/** Tells on the error stream how far long work has come: on one line that is drawn again in a terminal, line by line elsewhere. */
export class ProgressLine {
  readonly #stderr: Surroundings['stderr'];
  readonly #verb: string;
  readonly #redraws: boolean;
  /** How many there will be at most. */
  readonly #most: number;
  readonly #begun = performance.now();
  #toldAt = 0;
  #drawn = false;

  constructor(
    { stderr, env }: Pick<Surroundings, 'stderr' | 'env'>,
    verb: string,
    most: number = Number.POSITIVE_INFINITY,
  ) {
    this.#most = most;
    this.#stderr = stderr;
    this.#verb = verb;
    this.#redraws = stderr.isTTY === true && env['TERM'] !== 'dumb';
  }

  /** A listener of its own, to be handed on. */
  readonly tell = ({ taken, skipped, total: all, waiting }: Progress): void => {
    const total = skipped > 0 ? all : Math.min(all, this.#most);
    const now = performance.now();
    const elapsed = now - this.#begun;
    if (elapsed < PATIENCE && waiting === undefined) return;
    if (!this.#redraws && now - this.#toldAt < LINE_EVERY) return;
    this.#toldAt = now;
    const read = taken + skipped;
    const rate = read / Math.max(0.001, elapsed / 1000);
    const left = total > read && rate > 0 ? `, ${time((total - read) / rate)} to go` : '';
    const more =
      waiting === undefined ? `${Math.round(rate)} a second${left}` : `waiting: ${plainText(waiting)}`;
    const some = skipped > 0 ? `, ${skipped.toLocaleString('en')} left out` : '';
    const line = `${taken.toLocaleString('en')} of ${total.toLocaleString('en')} ${this.#verb}${some}  ${more}`;
    this.#stderr.write(this.#redraws ? `${CLEAR_LINE}${cut(line, 79)}` : `${line}\n`);
    this.#drawn = this.#redraws;
  };

  /** Takes the line away again. */
  end(): void {
    if (this.#drawn) this.#stderr.write(CLEAR_LINE);
  }
}
