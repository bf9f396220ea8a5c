import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { LadderReport } from './ladder-report.ts';

/** One consumer in a process of its own. */
export class ConsumerProcess {
  readonly #child: ChildProcess;
  readonly #seen: LadderReport[] = [];
  #news: (() => void) | undefined;

  /** @param args - The URL, the queue and the rung's time in milliseconds. */
  constructor(program: URL, args: readonly [url: string, queue: string, delay: string]) {
    this.#child = fork(program, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    this.#child.on('message', (report) => {
      this.#seen.push(report as LadderReport);
      this.#news?.();
    });
    this.#child.on('exit', () => this.#news?.());
    this.#child.on('error', () => this.#news?.());
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /**
   * Resolves to the first report that `matches`, seen already or to come; to `undefined` when the process ends, when
   * `timeout` milliseconds are over, or on `signal`.
   */
  async report<T extends LadderReport>(
    matches: (report: LadderReport) => report is T,
    timeout: number,
    signal: AbortSignal,
  ): Promise<T | undefined> {
    const end = AbortSignal.any([signal, AbortSignal.timeout(timeout)]);
    const wake = (): void => this.#news?.();
    end.addEventListener('abort', wake);
    try {
      for (;;) {
        const found = this.#seen.find(matches);
        if (found !== undefined || end.aborted || this.#ended) return found;
        await new Promise<void>((resolve) => {
          this.#news = resolve;
        });
      }
    } finally {
      end.removeEventListener('abort', wake);
    }
  }

  /** Ends it without a word, as a crash does. Resolves when it has gone. */
  async kill(): Promise<void> {
    if (this.#ended) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await gone;
  }

  get #ended(): boolean {
    return this.#child.pid === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null;
  }
}
