import { type Ack, accept, park, reject, retry } from '@acemq/core';

/** What a handler does at one attempt. */
export type Step = 'accept' | 'retry' | 'throw' | 'reject' | 'park';

/** Where a message ends. */
export type Place = 'handled' | 'dlq' | 'parked';

interface Fate {
  /** What happens at the first attempts; the last entry at every later one too. */
  readonly steps: readonly Step[];
  readonly place: Place;
}

/** How many in a hundred messages have which fate. The first wait is in the consumer, the third in a rung. */
const FATES: readonly (readonly [number, Fate])[] = [
  [76, { steps: ['accept'], place: 'handled' }],
  [8, { steps: ['retry', 'accept'], place: 'handled' }],
  [4, { steps: ['throw', 'throw', 'retry', 'accept'], place: 'handled' }],
  [2, { steps: ['retry'], place: 'dlq' }],
  [5, { steps: ['reject'], place: 'dlq' }],
  [5, { steps: ['park'], place: 'parked' }],
];
const BY_CLASS: readonly Fate[] = FATES.flatMap(([share, fate]) => Array<Fate>(share).fill(fate));

function fateOf(number: number): Fate {
  // Fibonacci hashing: neighbours have different fates, and no publisher or queue a share of its own.
  return BY_CLASS[(Math.imul(number, 0x9e3779b1) >>> 0) % BY_CLASS.length] as Fate;
}

/** What the handler of message `number` does at an attempt, from 1. */
export function stepOf(number: number, attempt: number): Step {
  const { steps } = fateOf(number);
  return steps[Math.min(attempt, steps.length) - 1] as Step;
}

/** Where message `number` must end, if it arrives. */
export function placeOf(number: number): Place {
  return fateOf(number).place;
}

/** The same as an answer of a handler. */
export function answerOf(step: Step): Ack {
  switch (step) {
    case 'accept':
      return accept();
    case 'retry':
      return retry(new Error('not now'));
    case 'throw':
      throw new Error('it broke');
    case 'reject':
      return reject(new Error('never'));
    case 'park':
      return park(new Error('somebody should look'));
  }
}
