import type { Tally } from './tally.ts';

/** Where lines go: standard output, or a test's list. */
export interface Output {
  write(text: string): unknown;
  /** Whether a line can be written over. */
  readonly isTTY?: boolean | undefined;
  /** Columns of a terminal. */
  readonly columns?: number | undefined;
}

/** How often progress is shown, in milliseconds: a terminal's line is written over, a log's line stays. */
const ON_TERMINAL = 100;
const IN_LOG = 500;

const ERASE = '\r\u001b[K';

/** Shows how far a run is, until the returned function is called; that shows the end once more. */
export function showProgress(output: Output, now: () => { published: number; tally: Tally }): () => void {
  const started = performance.now();
  const live = output.isTTY === true;
  let shown = '';
  const show = (): void => {
    const { published, tally } = now();
    const figures = line(published, tally);
    if (figures === shown && !live) return;
    shown = figures;
    const seconds = ((performance.now() - started) / 1000).toFixed(1).padStart(5);
    const whole = `${seconds} s${figures}`;
    // A line that wraps is not erased as one.
    output.write(live ? ERASE + whole.slice(0, (output.columns ?? 80) - 1) : `${whole}\n`);
  };
  const timer = setInterval(show, live ? ON_TERMINAL : IN_LOG);
  return () => {
    clearInterval(timer);
    show();
    if (live) output.write('\n');
  };
}

function line(published: number, { handled, retried, deadLettered, parked }: Tally): string {
  const waits = retried.consumer + retried.broker + retried.requeued;
  return [
    figure(published, 'published'),
    figure(handled, 'handled'),
    figure(waits, 'retried'),
    figure(deadLettered, 'dead-lettered', 3),
    figure(parked, 'parked', 3),
  ].join('');
}

function figure(count: number, what: string, width = 4): string {
  return ` ${String(count).padStart(width)} ${what}`;
}
