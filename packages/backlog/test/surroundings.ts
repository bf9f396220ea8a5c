import type { Surroundings } from '@acemq/terminal';

/** A process of which nothing is real. */
export function surroundings(env: Record<string, string | undefined> = {}): Surroundings & {
  /** What was written. */
  readonly out: () => string;
  readonly err: () => string;
  interrupt(): void;
} {
  let out = '';
  let err = '';
  const listeners: (() => void)[] = [];
  return {
    env,
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (err += text) },
    once: (_, listener) => listeners.push(listener),
    out: () => out,
    err: () => err,
    interrupt: () => {
      for (const listener of listeners) listener();
    },
  };
}
