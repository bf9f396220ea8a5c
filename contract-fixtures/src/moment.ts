import { metricKey } from '@acemq/observe';

/** What writes the numbers of a moment. */
export type Part = 'connection' | 'outbox' | 'request' | 'pipeline';

type Numbers = Readonly<Record<string, number>>;

/** What happens, and what each series then says; a series that is not named does not move. */
export interface Moment {
  readonly of: Part;
  readonly when: string;
  /** How often a counter, or a distribution, has counted it. */
  readonly counted: Numbers;
  /** The sum of a distribution, where what happens says how much it is. */
  readonly totals: Numbers;
  /** What a gauge says in the end. */
  readonly gauges: Numbers;
}

/** One series of a moment. */
export interface Move {
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly counted?: number;
  readonly total?: number;
  readonly gauge?: number;
}

/** Writes a moment down. */
export function moment(of: Part, when: string, ...moves: readonly (readonly Move[])[]): Moment {
  const all = moves.flat();
  const numbers = (of: 'counted' | 'total' | 'gauge'): Numbers =>
    Object.fromEntries(
      all
        .flatMap((move): [string, number][] => {
          const number = move[of];
          return number === undefined ? [] : [[metricKey(move.metric, move.labels), number]];
        })
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    );
  return { of, when, counted: numbers('counted'), totals: numbers('total'), gauges: numbers('gauge') };
}
