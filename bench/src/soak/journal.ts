import { closeSync, createReadStream, openSync, writeSync } from 'node:fs';
import type { Step } from './fate.ts';

/**
 * What became of a send: the broker has it; it may or may not have arrived; nothing was written; the broker
 * refused it with a nack, and so says nothing of whether it kept it; or an answer that nobody should get.
 */
export type Outcome = 'confirmed' | 'uncertain' | 'unwritten' | 'nacked' | 'unexpected';

const OUTCOMES: readonly Outcome[] = ['confirmed', 'uncertain', 'unwritten', 'nacked', 'unexpected'];
const STEPS: readonly Step[] = ['accept', 'retry', 'throw', 'reject', 'park'];

/**
 * A file of numbers. Each line is with the system before `write` returns, so it is there whatever becomes of
 * the process afterwards; only a crash of the machine could lose it.
 */
export class Journal {
  readonly #file: number;

  constructor(path: string) {
    this.#file = openSync(path, 'a');
  }

  /** A publisher's line. */
  sent(number: number, outcome: Outcome): void {
    writeSync(this.#file, `${number} ${OUTCOMES.indexOf(outcome)}\n`);
  }

  /** A consumer's line, written before its answer is given. */
  worked(number: number, step: Step): void {
    writeSync(this.#file, `${number} ${STEPS.indexOf(step)}\n`);
  }

  close(): void {
    closeSync(this.#file);
  }
}

/** Reads what a publisher wrote. */
export function readSent(path: string, each: (number: number, outcome: Outcome) => void): Promise<void> {
  return readLines(path, (number, index) => each(number, OUTCOMES[index] as Outcome));
}

/** Reads what a consumer wrote. */
export function readWorked(path: string, each: (number: number, step: Step) => void): Promise<void> {
  return readLines(path, (number, index) => each(number, STEPS[index] as Step));
}

async function readLines(path: string, each: (number: number, index: number) => void): Promise<void> {
  let rest = '';
  for await (const chunk of createReadStream(path, 'latin1')) {
    const lines = `${rest}${chunk as string}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const [number, index] = line.split(' ');
      each(Number(number), Number(index));
    }
  }
  if (rest !== '') throw new Error(`${path} ends in the middle of a line`);
}
