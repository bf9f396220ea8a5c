import { FatalError } from '@acemq/core';
import { describe, expect, test } from 'vitest';
import { noReplyAddress, replyAddressOf } from '../../src/request/reply-address.ts';

describe('where a reply belongs', () => {
  test('the header comes before the property', () => {
    expect(replyAddressOf({ headers: { 'acemq-reply-to': 'a' }, replyTo: 'b' })).toBe('a');
  });

  test('either alone is enough', () => {
    expect(replyAddressOf({ headers: { 'acemq-reply-to': 'a' }, replyTo: undefined })).toBe('a');
    expect(replyAddressOf({ headers: {}, replyTo: 'b' })).toBe('b');
  });

  test('a header in bytes, as some clients write it, is text', () => {
    expect(
      replyAddressOf({ headers: { 'acemq-reply-to': new TextEncoder().encode('a') }, replyTo: undefined }),
    ).toBe('a');
  });

  test.each([
    ['empty', ''],
    ['null', null],
    ['a table', { a: 1 }],
    ['longer than a routing key', 'x'.repeat(256)],
  ])('a header that is %s names nothing, and the property counts', (_what, header) => {
    expect(replyAddressOf({ headers: { 'acemq-reply-to': header }, replyTo: 'b' })).toBe('b');
    expect(replyAddressOf({ headers: { 'acemq-reply-to': header }, replyTo: undefined })).toBeUndefined();
  });

  test('an empty property names nothing', () => {
    expect(replyAddressOf({ headers: {}, replyTo: '' })).toBeUndefined();
  });

  test('the reason says what was looked for, and is one that no retry helps against', () => {
    expect(noReplyAddress({ headers: {}, replyTo: undefined })).toBeInstanceOf(FatalError);
    expect(noReplyAddress({ headers: {}, replyTo: undefined }).message).toBe(
      'there is no reply address: neither the header acemq-reply-to nor the property reply-to names a queue',
    );
    expect(noReplyAddress({ headers: { 'acemq-reply-to': 'x'.repeat(256) }, replyTo: '' }).message).toContain(
      'more than 255 bytes',
    );
  });
});
