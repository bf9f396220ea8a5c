import type { Transport } from '@acemq/core';
import { runExample } from '../src/run.ts';

/** Runs the example with its output kept. */
export async function ran(target: string | Transport): Promise<{ code: number; out: string; err: string }> {
  let out = '';
  let err = '';
  const code = await runExample({
    count: 200,
    target,
    out: { write: (text) => (out += text) },
    err: { write: (text) => (err += text) },
  });
  return { code, out: out.replaceAll(/orders-[\da-f]{8}/g, 'ORDERS'), err };
}

/** What 200 orders come to, on any broker. */
export const TWO_HUNDRED = `
With the bug
    150  shipped
     40  in ORDERS.dlq
     10  in ORDERS.parked

Why
     40  exhausted 3 attempts: TypeError: the tariff of LI has no price

Replayed
     40  would be moved, said the dry run
      3  moved before the bug was mended, and set aside again
     40  moved after it, 200 a second
    190  shipped
      0  in ORDERS.dlq
     10  in ORDERS.parked, for somebody to look at

All 200 are accounted for.
`;
