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
    expect(noReplyAddress({ headers: {}, replyTo: '' }).message).toBe(
      'there is no reply address: the header acemq-reply-to names no queue, and the property reply-to names no queue',
    );
    const headers = { 'acemq-reply-to': 'x'.repeat(256) };
    expect(noReplyAddress({ headers, replyTo: 'amq.rabbitmq.reply-to.nonsense' }).message).toBe(
      'there is no reply address: the header acemq-reply-to takes more than 255 bytes, ' +
        'and the property reply-to is a direct reply-to address that no broker made',
    );
  });
});

/** The process of a channel, as Erlang writes it. */
function process(node: string, numbers = 12, tags: readonly number[] = [131, 88, 118]): string {
  const name = Buffer.from(node);
  return Buffer.concat([Buffer.from([...tags, 0, name.length]), name, Buffer.alloc(numbers, 1)]).toString(
    'base64',
  );
}

describe('an address of direct reply-to', () => {
  const madeByRabbitMq =
    'amq.rabbitmq.reply-to.g1h2AA1yZXBseUA5MjQ4ODg0AABbwQAAAAFrDqmx.BtdHCMUtMop5OpZr9L1axA==';

  test('as RabbitMQ makes it is one', () => {
    expect(replyAddressOf({ headers: {}, replyTo: madeByRabbitMq })).toBe(madeByRabbitMq);
    expect(
      replyAddressOf({ headers: {}, replyTo: `amq.rabbitmq.reply-to.${process('reply@1')}.k` }),
    ).toBeDefined();
  });

  // RabbitMQ 3.10.8 was asked about each of them: it closed the connection over most, with 541 INTERNAL_ERROR.
  test.each([
    'amq.rabbitmq.reply-to',
    'amq.rabbitmq.reply-to.',
    'amq.rabbitmq.reply-to.garbage',
    'amq.rabbitmq.reply-to.!!!.k',
    'amq.rabbitmq.reply-to..k',
    'amq.rabbitmq.reply-to.g2gCYQFhAg==.k',
    'amq.rabbitmq.reply-to.A.k',
    `amq.rabbitmq.reply-to.${process('reply@1')}`,
    `amq.rabbitmq.reply-to.${process('reply@1')}.`,
    `amq.rabbitmq.reply-to.${process('reply@1')}.k.more`,
    `amq.rabbitmq.reply-to.${process('reply@abc')}.k`,
    `amq.rabbitmq.reply-to.${process('rabbit@localhost')}.k`,
    `amq.rabbitmq.reply-to.${process('reply@1', 20)}.k`,
    `amq.rabbitmq.reply-to.${process('reply@1', 4)}.k`,
    `amq.rabbitmq.reply-to.${process('reply@1', 9, [131, 103, 118])}.k`,
    `amq.rabbitmq.reply-to.${process('reply@1', 12, [131, 88, 100])}.k`,
  ])('%s is none', (address) => {
    expect(replyAddressOf({ headers: { 'acemq-reply-to': address }, replyTo: undefined })).toBeUndefined();
    expect(replyAddressOf({ headers: {}, replyTo: address })).toBeUndefined();
  });

  test('left bare in the header, as its sender wrote it, leaves the word to the property', () => {
    const headers = { 'acemq-reply-to': 'amq.rabbitmq.reply-to' };
    expect(replyAddressOf({ headers, replyTo: madeByRabbitMq })).toBe(madeByRabbitMq);
  });

  test('a queue whose name only begins alike is a queue', () => {
    expect(replyAddressOf({ headers: {}, replyTo: 'amq.rabbitmq.reply-topics' })).toBe(
      'amq.rabbitmq.reply-topics',
    );
  });
});
