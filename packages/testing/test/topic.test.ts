import fc from 'fast-check';
import { expect, test } from 'vitest';
import { matchesTopic, topicWords } from '../src/topic.ts';

/** The definition, without any cleverness. */
function defined(pattern: readonly string[], key: readonly string[]): boolean {
  const [first, ...rest] = pattern;
  if (first === undefined) return key.length === 0;
  if (first === '#') return defined(rest, key) || (key.length > 0 && defined(pattern, key.slice(1)));
  return key.length > 0 && (first === '*' || first === key[0]) && defined(rest, key.slice(1));
}

test('a topic pattern matches what its definition says', () => {
  const words = (...from: string[]): fc.Arbitrary<string[]> =>
    fc.array(fc.constantFrom(...from), { maxLength: 7 });
  fc.assert(
    fc.property(words('a', 'b', '', '*', '#'), words('a', 'b', '', 'c'), (pattern, key) => {
      expect(matchesTopic(pattern, key)).toBe(defined(pattern, key));
    }),
    { numRuns: 2000 },
  );
});

test('the empty key has no word, and a lone dot has two empty ones', () => {
  expect(topicWords('')).toEqual([]);
  expect(topicWords('.')).toEqual(['', '']);
  expect(topicWords('a..b')).toEqual(['a', '', 'b']);
});
