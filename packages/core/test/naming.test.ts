import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  checkName,
  checkRoutingKey,
  deadLetterQueueName,
  defaultOrigin,
  parkedQueueName,
  retryQueueName,
} from '../src/index.ts';
import { expectRefusal } from './refusal.ts';

describe('the names of a queue', () => {
  it('are the source with a suffix', () => {
    expect(deadLetterQueueName('orders.new')).toBe('orders.new.dlq');
    expect(parkedQueueName('orders.new')).toBe('orders.new.parked');
    expect(retryQueueName('orders.new', '40s')).toBe('orders.new.retry.40s');
    expect(retryQueueName('orders.new', 500)).toBe('orders.new.retry.500ms');
  });

  it.each([
    ['the dead-letter queue', deadLetterQueueName, '.dlq'],
    ['the parked queue', parkedQueueName, '.parked'],
    ['a rung', (queue: string) => retryQueueName(queue, '40s'), '.retry.40s'],
  ])('are refused when %s would pass 255 bytes', (_what, name, suffix) => {
    const longest = 'q'.repeat(255 - suffix.length);
    expect(name(longest)).toBe(longest + suffix);
    expectRefusal(() => name(`${longest}q`), 'ACEMQ_CONFIGURATION', `${longest}q`, '256 bytes', '255');
  });

  it.each(['', ' ', '\t\n'])('are refused for the blank source %j', (blank) => {
    expectRefusal(() => deadLetterQueueName(blank), 'ACEMQ_CONFIGURATION', 'queue', JSON.stringify(blank));
    expectRefusal(() => parkedQueueName(blank), 'ACEMQ_CONFIGURATION', 'queue', JSON.stringify(blank));
    expectRefusal(() => retryQueueName(blank, 1000), 'ACEMQ_CONFIGURATION', 'queue', JSON.stringify(blank));
  });

  it('are refused for a delay that is none', () => {
    expectRefusal(() => retryQueueName('orders', -5), 'ACEMQ_CONFIGURATION', 'delay', '-5');
  });
});

describe('checkName', () => {
  it.each([undefined, null, 42, {}, ['q']])('refuses %j, which is no text', (given) => {
    expectRefusal(() => checkName(given, 'exchange'), 'ACEMQ_CONFIGURATION', 'exchange', 'must be text');
  });

  it('takes exactly the names that are not blank and fit into 255 bytes of UTF-8', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (name) => {
        const fits = name.trim() !== '' && Buffer.byteLength(name) <= 255;
        if (fits) expect(checkName(name, 'queue')).toBe(name);
        else expectRefusal(() => checkName(name, 'queue'), 'ACEMQ_CONFIGURATION', JSON.stringify(name));
      }),
    );
  });

  it('counts bytes, not characters', () => {
    expect(checkName('é'.repeat(127), 'queue')).toHaveLength(127);
    expectRefusal(() => checkName('é'.repeat(128), 'queue'), 'ACEMQ_CONFIGURATION', '256 bytes');
  });
});

describe('checkRoutingKey', () => {
  it('takes an empty key, and refuses one that is too long or no text', () => {
    expect(checkRoutingKey('')).toBe('');
    expectRefusal(() => checkRoutingKey('k'.repeat(256)), 'ACEMQ_CONFIGURATION', '256 bytes');
    expectRefusal(() => checkRoutingKey(null), 'ACEMQ_CONFIGURATION', 'null');
  });
});

describe('defaultOrigin', () => {
  it('is the client at its host', () => {
    expect(defaultOrigin('shipping', 'app-7')).toBe('shipping@app-7');
  });

  it('has words for a client or a host without a name', () => {
    expect(defaultOrigin('', 'app-7')).toBe('acemq@app-7');
    expect(defaultOrigin('shipping')).toBe('shipping@unknown-host');
    expect(defaultOrigin('shipping', '')).toBe('shipping@unknown-host');
  });
});
