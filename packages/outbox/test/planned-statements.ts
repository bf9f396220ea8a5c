import type { Statement } from '@acemq/sql';
import { ALL_LANES, destinationHash, maskOf } from '../src/destination-hash.ts';
import type { SqlLedger } from '../src/sql-ledger.ts';

/** How many published records are in the table of a plan test, and how many owed ones come after them. */
export const PUBLISHED = 200_000;
export const OWED = 200;

/** A statement of the relay, and how many rows of the table it may read. */
export interface Planned {
  readonly name: string;
  readonly statement: Statement;
  readonly most: number;
  readonly writes?: boolean;
}

/** Every statement on the table of records, from a relay that knows nothing yet. */
export function plannedStatements(store: SqlLedger): Planned[] {
  const owed = Array.from({ length: OWED }, (_, index) => PUBLISHED + 1 + index);
  const only = destinationHash('', 'orders');
  const half = maskOf(Array.from({ length: 32 }, (_, lane) => lane));
  const all = { after: 0, lanes: ALL_LANES, limit: 500 };
  return [
    { name: 'what is owed', statement: store.owedStatement(all), most: OWED },
    {
      name: 'what is owed, from a place',
      statement: store.owedStatement({ ...all, after: PUBLISHED + 150 }),
      most: 50,
    },
    {
      name: 'what is owed in half of the lanes',
      statement: store.owedStatement({ ...all, lanes: half }),
      most: OWED,
    },
    {
      name: 'what is owed behind a place',
      statement: store.owedStatement({ ...all, upTo: PUBLISHED + 50, limit: 1000 }),
      most: 50,
    },
    {
      name: 'what a destination is owed',
      statement: store.owedStatement({ ...all, only, upTo: PUBLISHED + OWED }),
      most: OWED,
    },
    {
      name: 'what is owed to all destinations but some',
      statement: store.owedStatement({ ...all, without: [1, 2, 3] }),
      most: OWED,
    },
    { name: 'records to publish', statement: store.fetchStatement(owed), most: OWED * 2 },
    {
      name: 'marking',
      statement: store.publishedStatement('a', owed.slice(0, 100)),
      most: 200 + 64 * 2,
      writes: true,
    },
    {
      name: 'a refusal',
      statement: store.refusedStatement('a', { seq: PUBLISHED + 1, reason: 'no', retire: true }),
      most: 2 + 64,
      writes: true,
    },
    { name: 'what is old', statement: store.oldStatement(50_000, 1000), most: 1000 },
    {
      name: 'removing what is old',
      statement: store.removeStatement(Array.from({ length: 1000 }, (_, index) => `id-${index + 1}`)),
      most: 2000,
      writes: true,
    },
    { name: 'how many are pending', statement: store.pendingStatement(), most: OWED },
    { name: 'the oldest', statement: store.oldestStatement(), most: 1 },
    { name: 'how many each destination is owed', statement: store.owedByDestinationStatement(), most: OWED },
    { name: 'what is retired', statement: store.retiredStatement(100), most: 0 },
  ];
}

/** The text of a statement as a driver wants it. */
export function textOf({ strings, values }: Statement, placeholder: (index: number) => string): string {
  return strings.reduce(
    (text, piece, index) => text + (index > 0 && index <= values.length ? placeholder(index) : '') + piece,
  );
}

/** Their names, for which no store is needed. */
export const PLANNED: readonly string[] = plannedStatements(
  new Proxy({} as SqlLedger, { get: () => () => ({ strings: [''], values: [] }) }),
).map(({ name }) => name);
