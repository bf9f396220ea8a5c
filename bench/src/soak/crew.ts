import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Answers, Assignment, Question, Report, Sample } from './orders.ts';

/** How long a process may take to answer. The longest answer is a close, of 20 s at most. */
const ANSWER_PATIENCE = 60_000;

/** One process of the crew, as the director has it. */
export class CrewMember {
  readonly assignment: Assignment;
  readonly samples: Sample[] = [];
  readonly #child: ChildProcess;
  /** Rejects when the process ends before it was told to. */
  readonly failed: Promise<never>;
  #released = false;

  private constructor(assignment: Assignment) {
    this.assignment = assignment;
    const program = fileURLToPath(new URL(`./soak-${assignment.role}.js`, import.meta.url));
    this.#child = fork(program, [JSON.stringify(assignment)], { execArgv: ['--expose-gc'] });
    this.failed = new Promise((_, reject) => {
      this.#child.once('error', reject);
      this.#child.once('exit', (code, signal) => {
        if (!this.#released) reject(new Error(`${assignment.name} has ended (${code ?? signal})`));
      });
    });
    this.failed.catch(() => {}); // Heard by whoever waits for an answer.
    this.#child.on('message', (report: Report) => {
      if (report.type === 'sample') this.samples.push(report.sample);
    });
  }

  /** Starts the process. Resolves when it is at work. */
  static async start(assignment: Assignment): Promise<CrewMember> {
    const member = new CrewMember(assignment);
    await member.#hears((report) => (report.type === 'ready' ? true : undefined), 'to start');
    return member;
  }

  /** Asks it something, and resolves with its answer. Rejects when it has ended, or says nothing for a minute. */
  ask<Q extends Question>(question: Q): Promise<Answers[Q]> {
    const answer = this.#hears(
      (report) =>
        report.type === 'answer' && report.question === question ? (report.answer as Answers[Q]) : undefined,
      `to answer '${question}'`,
    );
    this.#child.send(question);
    return answer;
  }

  /** Ends the process. */
  async end(): Promise<void> {
    this.#released = true;
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }

  async #hears<T>(wanted: (report: Report) => T | undefined, what: string): Promise<T> {
    let listener: ((report: Report) => void) | undefined;
    let patience: NodeJS.Timeout | undefined;
    const heard = new Promise<T>((resolve, reject) => {
      listener = (report) => {
        const found = wanted(report);
        if (found !== undefined) resolve(found);
      };
      this.#child.on('message', listener);
      patience = setTimeout(() => {
        reject(new Error(`${this.assignment.name} took more than ${ANSWER_PATIENCE} ms ${what}`));
      }, ANSWER_PATIENCE);
    });
    try {
      return await Promise.race([heard, this.failed]);
    } finally {
      clearTimeout(patience);
      if (listener !== undefined) this.#child.off('message', listener);
    }
  }
}
