import { milliseconds } from '@acemq/core';
import type { Letter } from '@acemq/patterns/replay';
import { wholeNumber } from '@acemq/terminal';

/** The flags that say which messages are meant. */
export const FILTER_FLAGS = {
  reason: { type: 'string' },
  type: { type: 'string' },
  id: { type: 'string' },
  'older-than': { type: 'string' },
  'newer-than': { type: 'string' },
  attempts: { type: 'string' },
} as const;

type FilterValues = { readonly [Name in keyof typeof FILTER_FLAGS]?: string | undefined };

/** Whether all that was asked for holds of a message; undefined where nothing was. Throws `ConfigurationError`. */
export function filterOf(values: FilterValues): ((letter: Letter) => boolean) | undefined {
  const tests: ((letter: Letter) => boolean)[] = [];
  const { reason, type, id, attempts } = values;
  if (reason !== undefined) {
    const part = reason.toLowerCase();
    tests.push((letter) => (letter.reason ?? '').toLowerCase().includes(part));
  }
  if (type !== undefined) tests.push(({ envelope }) => envelope.type === type);
  if (id !== undefined) tests.push(({ envelope }) => envelope.id === id);
  if (attempts !== undefined) {
    const number = wholeNumber(attempts, 'attempts');
    tests.push((letter) => letter.attempts === number);
  }
  const older = ageOption(values, 'older-than');
  if (older !== undefined) tests.push(({ age }) => age > older);
  const newer = ageOption(values, 'newer-than');
  if (newer !== undefined) tests.push(({ age }) => age < newer);
  return tests.length === 0 ? undefined : (letter) => tests.every((holds) => holds(letter));
}

function ageOption(values: FilterValues, name: 'older-than' | 'newer-than'): number | undefined {
  const text = values[name];
  return text === undefined ? undefined : milliseconds(text as never, `--${name}`);
}
