import { Readable } from 'node:stream';
import { type RunOptions, runOrders } from '../src/run.ts';

/** What a run left behind. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs the shop with its output kept. `input` is the text of standard input. */
export async function ran(
  options: Partial<RunOptions> & Pick<RunOptions, 'target'>,
  input = '',
): Promise<Ran> {
  let out = '';
  let err = '';
  const code = await runOrders({
    source: '-',
    stdin: Readable.from([Buffer.from(input)]),
    out: { write: (text) => (out += text) },
    err: { write: (text) => (err += text) },
    signal: new AbortController().signal,
    ...options,
  });
  return { code, out, err };
}

/** An order of one article, as a line. */
export function orderLine(fields: Readonly<Record<string, unknown>> = {}): string {
  const order = {
    order: 'o-1',
    items: [{ article: 'mug', quantity: 2, price: 8.9 }],
    total: 17.8,
    ...fields,
  };
  return `${JSON.stringify(order)}\n`;
}

/** The number that a row of the table has. */
export function figure(out: string, row: string): number {
  return Number(new RegExp(`^ {2}${row} +(\\d+) {3}`, 'm').exec(out)?.[1]);
}
