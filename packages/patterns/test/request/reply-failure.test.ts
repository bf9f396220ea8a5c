import { FatalError, type ResponderError } from '@acemq/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { failureOf, failureText } from '../../src/request/reply-failure.ts';

const failed = (value: unknown): ResponderError | undefined =>
  failureOf({ 'acemq-error': value } as Parameters<typeof failureOf>[0]);

describe('what a failure says', () => {
  test('the class and the message', () => {
    expect(failureText(new RangeError('too large'))).toBe('RangeError: too large');
    expect(failureText(new FatalError('never'))).toBe('FatalError: never');
  });

  test('a class of an application by its own name', () => {
    class UnknownSku extends Error {}
    expect(failureText(new UnknownSku('A-1'))).toBe('UnknownSku: A-1');
  });

  test('whatever was thrown, in at most 2,000 characters', () => {
    expect(failureText(undefined)).toBe('no reason given');
    expect(failureText('just words')).toBe('just words');
    expect(failureText(new Error('x'.repeat(5000)))).toHaveLength(2000);
  });
});

describe('what an asker makes of it', () => {
  test.each([
    ['RangeError: too large', 'RangeError', 'too large'],
    ['java.io.IOException: reset', 'java.io.IOException', 'reset'],
    ['Orders::Unknown: A-1', 'Orders::Unknown', 'A-1'],
    ['Error: a: b', 'Error', 'a: b'],
    ['Error: two\nlines', 'Error', 'two\nlines'],
  ])('%s has a type and words', (text, type, words) => {
    expect(failed(text)).toMatchObject({ type, message: words, code: 'ACEMQ_RESPONDER' });
  });

  test.each(['RangeError', 'two words: then more', ': nothing before', 'Error: ', '7up: x'])(
    '%j is words alone',
    (text) => {
      expect(failed(text)).toMatchObject({ type: undefined, message: text });
    },
  );

  test('bytes are text', () => {
    expect(failed(new TextEncoder().encode('TypeError: no'))).toMatchObject({ type: 'TypeError' });
  });

  test.each([[''], [null], [true], [{ a: 1 }]])('%j is a failure without words', (value) => {
    expect(failed(value)?.message).toBe('the responder failed and did not say why');
  });

  test('a reply without the header is an answer, whatever its table inherits', () => {
    expect(failureOf({})).toBeUndefined();
    expect(failureOf(Object.create({ 'acemq-error': 'Error: inherited' }))).toBeUndefined();
  });

  test('what was written is what is read, for any type and words', () => {
    const type = fc.stringMatching(/^[A-Z][A-Za-z0-9_]{0,20}$/);
    const words = fc.string({ minLength: 1 }).filter((text) => text.trim() !== '');
    fc.assert(
      fc.property(type, words, (name, message) => {
        const error = new Error(message);
        error.name = name;
        expect(failed(failureText(error))).toMatchObject({ type: name, message });
      }),
    );
  });
});
