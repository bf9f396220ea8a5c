import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Program, Setting } from './programs.ts';

/** One program of the shop, which is killed and started again. */
export class KilledProcess {
  readonly #program: Program;
  readonly #setting: Setting;
  #child: ChildProcess | undefined;
  /** What it said besides `ready`: the port of the service. */
  said = '';
  kills = 0;

  constructor(program: Program, setting: Setting) {
    this.#program = program;
    this.#setting = setting;
  }

  /** Resolves when it is ready. Throws when it ends before. */
  async start(): Promise<void> {
    const args = [process.argv[1] ?? '', this.#program, JSON.stringify(this.#setting)];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#child = child;
    let text = '';
    const ready = new Promise<void>((resolve) => {
      child.stdout.on('data', (bytes: Buffer) => {
        text += bytes.toString();
        const [, said] = /^ready ?(\S*)\n/m.exec(text) ?? [];
        if (said === undefined) return;
        this.said = said;
        resolve();
      });
    });
    const ended = once(child, 'exit').then(() =>
      Promise.reject(new Error(`the ${this.#program} ended by itself`)),
    );
    await Promise.race([ready, ended]);
    ended.catch(() => undefined); // From now on its end is what the run is about.
  }

  /** Ends it with SIGKILL. Resolves when it has gone. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
    this.kills += 1;
  }
}
