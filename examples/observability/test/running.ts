import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

/** What a run of the program left behind. */
export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** A run of the program, as it is shipped: `npm test` builds before it tests. */
export interface Running {
  readonly child: ChildProcess;
  /** Resolves with all output so far as soon as it has this. */
  until(text: string): Promise<string>;
  readonly ended: Promise<Ran>;
}

const program = fileURLToPath(new URL('../dist/main.js', import.meta.url));

/** Starts the program, on the in-memory broker unless an address is given. Killed when the test ends before it. */
export function started(args: readonly string[], amqpUrl = ''): Running {
  const env = { ...process.env, AMQP_URL: amqpUrl };
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  const ended = once(child, 'close').then(([code]): Ran => ({ code: code as number | null, out, err }));
  return {
    child,
    ended,
    async until(text) {
      let over = false;
      void ended.then(() => (over = true));
      while (!out.includes(text)) {
        if (over) throw new Error(`it ended without "${text}": ${out}${err}`);
        await Promise.race([once(child.stdout, 'data'), ended]);
      }
      return out;
    },
  };
}

/** The run without arguments, to its end. */
export function ran(amqpUrl?: string): Promise<Ran> {
  return started([], amqpUrl).ended;
}

/** The number behind these labels of a metric. */
export function figure(out: string, metric: string, labels: string): number {
  const [, below = ''] = out.split(`  ${metric}\n`);
  const rows = /^(?: {4}.*\n)*/.exec(below)?.[0] ?? '';
  const row = rows.split('\n').find((line) => line.trim().startsWith(`${labels} `));
  return Number(row?.trim().split(' ').at(-1));
}

/** Where the program serves. */
export function addressIn(out: string): string {
  return /http:\/\/(127\.0\.0\.1:\d+)\/metrics/.exec(out)?.[1] ?? '';
}

/** What the names of a run begin with, dot included. */
export function prefixIn(out: string): string {
  return /begin with (\S+) /.exec(out)?.[1] ?? '';
}
