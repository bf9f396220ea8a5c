import type { Transport } from '@acemq/core';
import { runExample } from '../src/run.ts';

/** What a run left behind. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs the example with its output kept. */
export async function ran(target: string | Transport, count = 300): Promise<Ran> {
  let out = '';
  let err = '';
  const code = await runExample({
    count,
    target,
    out: { write: (text) => (out += text) },
    err: { write: (text) => (err += text) },
  });
  return { code, out, err };
}

/** What 300 runs come to, on any broker. */
export const THREE_HUNDRED = `
  begun            300  sent to the first step, and confirmed
  completed        240  stored, at the last step
  ended early       30  declined, at the first step
  dead letters      30  at the second step, after their retries
  accounted for    300
  retried           86  deliveries of the second step

The reason on the dead letters
  30 x exhausted 3 attempts: Error: the register of cities has no Atlantis
`;
