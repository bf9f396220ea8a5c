import { inspect } from 'node:util';
import { ConfigurationError } from '@acemq/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AmqplibOptions, amqplibTransport } from '../src/amqplib/index.ts';
import { CERTIFICATE } from './amqplib-certificate.ts';

function endpointsOf(target: string | readonly string[], options?: AmqplibOptions): readonly string[] {
  return amqplibTransport(target, options).endpoints;
}

function refusalOf(target: unknown, options?: unknown): string {
  try {
    amqplibTransport(target as string, options as AmqplibOptions);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError);
    return (error as Error).message;
  }
  throw new Error('was not refused');
}

describe('the endpoints of an amqplib transport', () => {
  it('show host, port and vhost of each URL, in order, and nobody to log in as', () => {
    expect(
      endpointsOf([
        'amqp://user:s3cret@one',
        'amqps://two',
        'amqp://[::1]:5673/%2F',
        'amqp://three/a%2Fb',
        'amqp://four/',
      ]),
    ).toEqual([
      'amqp://one:5672',
      'amqps://two:5671',
      'amqp://[::1]:5673',
      'amqp://three:5672/a%2Fb',
      'amqp://four:5672',
    ]);
  });

  it('take the vhost of the options, which no URL may contradict', () => {
    expect(endpointsOf(['amqp://one', 'amqp://two/v'], { vhost: 'v' })).toEqual([
      'amqp://one:5672/v',
      'amqp://two:5672/v',
    ]);
    expect(refusalOf('amqp://one/w', { vhost: 'v' })).toContain('"w"');
    expect(refusalOf('amqp://one', { vhost: '' })).toContain('vhost is ""');
  });

  it('are shown without a password when the transport is printed', () => {
    const transport = amqplibTransport('amqp://user:s3cret@one');
    for (const text of [
      String(transport),
      inspect(transport, { showHidden: true, depth: 9 }),
      JSON.stringify(transport),
    ]) {
      expect(text).not.toContain('s3cret');
      expect(text).toContain('one:5672');
    }
  });

  it.each([
    ['nothing', [], 'at least one'],
    ['no URL', 'localhost', 'not a URL'],
    ['no authority', 'localhost:5672', 'not a URL'],
    ['no text', 5672, 'at least one'],
    ['an entry that is no text', ['amqp://one', undefined], 'target[1] is not a URL'],
    ['another scheme', 'http://one', '"http://"'],
    ['no host', 'amqp:///v', 'names no host'],
    ['port 0', 'amqp://one:0', 'port 0'],
    ['a port too large', 'amqp://one:65536', 'not a URL'],
    ['a heartbeat in the query', 'amqp://one?heartbeat=5', 'option of connect'],
    ['a limit in the query', 'amqp://one?frameMax=5', 'option of the transport'],
    ['any other query', 'amqp://one?x=y', '%3F'],
    ['a fragment', 'amqp://one#x', '%23'],
    ['a bad escape', 'amqp://us%er@one', '%25'],
    ['an open path', 'amqp://one/a/b', '%2F'],
    ['a vhost too long', `amqp://one/${'v'.repeat(256)}`, '255 bytes'],
  ])('are refused for %s', (_, target, words) => {
    expect(refusalOf(target)).toContain(words);
  });

  it('never repeat a password that makes the URL unreadable', () => {
    // Digits in front may pass for a port, and the rest for a path or a query.
    const password = fc
      .tuple(fc.constantFrom('', '12', 'zq'), fc.stringMatching(/^[a-z0-9/?#@:%[\] !&=+]{1,12}$/))
      .map(([front, text]) => `${front}${text}qz`);
    fc.assert(
      fc.property(password, fc.constantFrom('amqp', 'amqps'), (text, scheme) => {
        try {
          const transport = amqplibTransport(`${scheme}://user:${text}@host/vhost`);
          expect(transport.endpoints.join()).not.toMatch(/zq|qz/);
        } catch (error) {
          expect(error).toBeInstanceOf(ConfigurationError);
          expect((error as Error).message).not.toMatch(/zq|qz/);
        }
      }),
    );
  });
});

describe('the options of an amqplib transport', () => {
  it.each([
    ['an unknown one', { frame_max: 4096 }, 'frame_max'],
    ['an unknown one of tls', { tls: { certificate: 'x' } }, 'tls has no option "certificate"'],
    ['tls without amqps', { tls: {} }, 'not encrypted'],
    ['a frame too small', { frameMax: 4095 }, '4096'],
    ['channels that are no number', { channelMax: '5' }, 'channelMax is 5'],
    [
      'credentials that are no function',
      { credentials: { username: 'a', password: 's3cret' } },
      'must be a function',
    ],
    ['options that are no object', null, 'must be an object'],
  ])('are refused for %s', (_, options, words) => {
    const message = refusalOf('amqp://one', options);
    expect(message).toContain(words);
    expect(message).not.toContain('s3cret');
  });

  it('refuse a certificate that cannot be read before anything is dialled', () => {
    expect(refusalOf('amqps://one', { tls: { cert: 'not PEM' } })).toContain('tls cannot be used');
    expect(endpointsOf('amqps://one', { tls: { ca: [CERTIFICATE] } })).toEqual(['amqps://one:5671']);
  });

  it('refuse an endpoint that is not there', async () => {
    const events = { lost() {}, blocked() {}, unblocked() {} };
    const request = { name: 'x', endpoint: 1, timeout: 1000, heartbeat: 0, events };
    await expect(amqplibTransport('amqp://one').dial(request)).rejects.toBeInstanceOf(ConfigurationError);
  });
});
