import { ConfigurationError } from '@acemq/core';
import { describe, expect, test } from 'vitest';
import { end, next } from '../../src/pipeline/index.ts';
import { isRunAnswer } from '../../src/pipeline/step-answer.ts';

describe('the answers of a step', () => {
  test('are known for what they are, also those of another copy of the package', () => {
    for (const answer of [next(), next(1), end()]) expect(isRunAnswer(answer)).toBe(true);
    expect(isRunAnswer({ decision: 'next', [Symbol.for('acemq.step-answer')]: true })).toBe(true);
  });

  test.each([undefined, null, true, 'next', { decision: 'next' }, next])(
    'are nothing else, such as %o',
    (value) => {
      expect(isRunAnswer(value)).toBe(false);
    },
  );

  test('are not asked of an object that refuses to be asked', () => {
    const refusing = new Proxy(
      {},
      {
        get() {
          throw new Error('no');
        },
      },
    );
    expect(isRunAnswer(refusing)).toBe(false);
  });

  test('that carry nothing are always the same object', () => {
    expect(next()).toBe(next());
    expect(end()).toBe(end());
  });

  test('tell no payload from the payload undefined', () => {
    expect(next()).toMatchObject({ changed: undefined });
    expect(next(undefined)).toMatchObject({ changed: { payload: undefined } });
  });

  test.each([
    [{ typ: 'a' }, '"typ"'],
    [{ type: ' ' }, '" "'],
    [{ type: 7 }, '7'],
    [{ version: 0 }, '0'],
    [{ version: 1.5 }, '1.5'],
    [{ version: '2' }, '"2"'],
    [{ headers: { 'x-acemq-id': 'mine' } }, 'x-acemq-id'],
    [{ headers: { 'acemq-routing-slip': '{}' } }, 'acemq-routing-slip'],
    [{ headers: [] }, 'a list'],
    ['type', '"type"'],
  ])('refuse the options %j', (options, words) => {
    expect(() => next({}, options as object)).toThrow(ConfigurationError);
    expect(() => next({}, options as object)).toThrow(words);
  });
});
