import { describeError } from '@acemq/core';
import { CLEAR_AND_HIDE_CURSOR, inPlace, SHOW_CURSOR, type Surroundings, terminalOf } from '@acemq/terminal';
import { type Picture, panel, unread } from './panel.ts';

/** Where readings are shown. */
export interface Showing {
  reading(picture: Picture): void;
  unread(name: string, error: unknown): void;
  /** Leaves the terminal as it was, with the last picture on it. */
  end(): void;
}

/** One line of JSON for each reading. */
export function jsonLines({ stdout }: Surroundings): Showing {
  const write = (line: object): void => {
    stdout.write(`${JSON.stringify(line)}\n`);
  };
  return {
    reading: ({ reading, kinds, limit }) =>
      write({
        asOf: new Date(reading.asOf).toISOString(),
        healthy: !kinds.some(({ now }) => (now.oldestAge ?? 0) > limit),
        kinds: kinds.map(({ now, throughput, diagnosis }) => ({ ...now, throughput, ...diagnosis })),
        deadLength: reading.deadLength,
        ...(reading.lag === undefined ? {} : { lag: reading.lag }),
      }),
    unread: (name, error) => write({ error: wordsOf(name, error) }),
    end: () => {},
  };
}

/** Pictures over one another in a terminal, below one another elsewhere, where errors go to the other stream. */
export function pictures(around: Surroundings): Showing {
  const { stdout, stderr } = around;
  let begun = false;
  const draw = (picture: string): void => {
    if (terminalOf(around).redraws) stdout.write(`${begun ? '' : CLEAR_AND_HIDE_CURSOR}${inPlace(picture)}`);
    else stdout.write(`${begun ? '\n' : ''}${picture}`);
    begun = true;
  };
  return {
    reading: (picture) => draw(panel(picture, terminalOf(around))),
    unread: (name, error) => {
      const words = wordsOf(name, error);
      const terminal = terminalOf(around);
      if (terminal.redraws) draw(unread(name, words, Date.now(), terminal));
      else stderr.write(`${words}\n`);
    },
    end: () => {
      if (begun && terminalOf(around).redraws) stdout.write(SHOW_CURSOR);
    },
  };
}

function wordsOf(name: string, error: unknown): string {
  return `${name} cannot be read: ${describeError(error)}`;
}
