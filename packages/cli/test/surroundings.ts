import type { Surroundings } from '../src/main.ts';

/** A process of which nothing is real. With an answer it has a terminal that types it. */
export function surroundings(
  env: Readonly<Record<string, string | undefined>> = {},
  answer?: string,
): Surroundings & {
  readonly out: () => string;
  readonly err: () => string;
  readonly asked: string[];
  interrupt(): void;
} {
  let [out, err] = ['', ''];
  const listeners: (() => void)[] = [];
  const asked: string[] = [];
  return {
    env,
    stdin: { isTTY: answer !== undefined },
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (err += text) },
    once: (_, listener) => listeners.push(listener),
    ask: async (question) => {
      asked.push(question);
      return answer ?? '';
    },
    asked,
    out: () => out,
    err: () => err,
    interrupt: () => {
      for (const listener of listeners) listener();
    },
  };
}
