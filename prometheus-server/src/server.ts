import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { query, type Sample } from './query.ts';

const READY_DEADLINE = 60_000;
const WAIT_DEADLINE = 20_000;
const POLL = 100;
const ERROR_TAIL = 4000;

/** One page to scrape. */
export interface ScrapeTarget {
  /** The label `job` of what comes from there. */
  readonly job: string;
  /** `host:port`. */
  readonly address: string;
  /** `/metrics` by default. */
  readonly path?: string;
}

/** What a server is started with. */
export interface PrometheusOptions {
  /** Scraped every second. */
  readonly targets: readonly ScrapeTarget[];
  /** Paths of rule files, evaluated every second. */
  readonly ruleFiles?: readonly string[];
}

/** A Prometheus server of this test's own. */
export interface PrometheusServer {
  /** Without a slash at the end. */
  readonly url: string;
  readonly pid: number;
  /**
   * The present value of an expression: an instant vector, or a scalar as one sample without labels.
   *
   * @throws Error with the server's words when it refuses the expression.
   */
  query(expression: string): Promise<readonly Sample[]>;
  /**
   * Asks until the answer holds, which by default means that there is any, and resolves with it.
   *
   * @throws Error with the last answer when it does not hold within 20 s.
   */
  until(expression: string, holds?: (samples: readonly Sample[]) => boolean): Promise<readonly Sample[]>;
  /** Ends the process and removes its data. */
  close(): Promise<void>;
}

/**
 * The server ends when the other end of its file descriptor 3 is closed, so that none outlives the process
 * that started it.
 */
const LEASHED = '(cat <&3 >/dev/null; kill -KILL $$) & exec "$0" "$@"';

/**
 * Starts a Prometheus server on a port of its own, with its data in a temporary folder. It is up in under a
 * second. Close it in the end.
 */
export async function startPrometheus(options: PrometheusOptions): Promise<PrometheusServer> {
  const program = process.env['PROMETHEUS_PROGRAM'];
  if (program === undefined || program === '') {
    throw new Error('PROMETHEUS_PROGRAM does not name the prometheus program to start');
  }
  const folder = mkdtempSync(join(tmpdir(), 'acemq-prometheus-'));
  // JSON is YAML.
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(configuration(options)));
  const child = spawn(
    '/bin/sh',
    [
      '-c',
      LEASHED,
      program,
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      '--web.listen-address=127.0.0.1:0',
    ],
    { cwd: folder, stdio: ['ignore', 'ignore', 'pipe', 'pipe'] },
  );
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  const leash = child.stdio[3] as Writable;
  leash.on('error', () => {}); // The shell may have ended first.
  const close = async (): Promise<void> => {
    leash.destroy();
    await exited;
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const url = `http://${await addressOf(child)}`;
    await ready(url);
    return {
      url,
      pid: child.pid as number, // It has spoken, so it was started.
      query: (expression) => query(url, expression),
      until: (expression, holds) => until(url, expression, holds),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function configuration({ targets, ruleFiles = [] }: PrometheusOptions): object {
  return {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: ruleFiles,
    scrape_configs: targets.map(({ job, address, path = '/metrics' }) => ({
      job_name: job,
      metrics_path: path,
      static_configs: [{ targets: [address] }],
    })),
  };
}

/** Where it listens, which it says itself. */
function addressOf(child: ChildProcess): Promise<string> {
  let said = '';
  return new Promise((resolve, reject) => {
    const deadline = setTimeout(() => reject(new Error(`Prometheus is not up: ${said}`)), READY_DEADLINE);
    const fail = (reason: string): void => {
      clearTimeout(deadline);
      reject(new Error(`Prometheus ended (${reason}): ${said}`));
    };
    child.once('error', ({ message }) => fail(message));
    child.once('exit', (code, signal) => fail(String(code ?? signal)));
    // Read to the end, since a full pipe would stop the server.
    child.stderr?.on('data', (bytes: Buffer) => {
      said = (said + bytes).slice(-ERROR_TAIL);
      const address = /msg="Listening on" address=(\S+)/.exec(said)?.[1];
      if (address === undefined) return;
      clearTimeout(deadline);
      resolve(address);
    });
  });
}

async function ready(url: string): Promise<void> {
  const late = performance.now() + READY_DEADLINE;
  while (!(await fetch(`${url}/-/ready`)).ok) {
    if (performance.now() > late) throw new Error('Prometheus does not become ready');
    await sleep(POLL);
  }
}

async function until(
  url: string,
  expression: string,
  holds: (samples: readonly Sample[]) => boolean = (samples) => samples.length > 0,
): Promise<readonly Sample[]> {
  const late = performance.now() + WAIT_DEADLINE;
  for (;;) {
    const samples = await query(url, expression);
    if (holds(samples)) return samples;
    if (performance.now() > late) {
      throw new Error(`${expression} is still ${JSON.stringify(samples)} after ${WAIT_DEADLINE / 1000} s`);
    }
    await sleep(POLL);
  }
}
