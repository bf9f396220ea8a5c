import { ConfigurationError } from '@acemq/core';
import { describe, expect, test, vi } from 'vitest';
import { BrokerHealth, type HealthSource, healthReport } from '../src/index.ts';

/** A connection that answers this, and keeps what it was asked with. */
function connection(report = healthReport('up')) {
  return { health: vi.fn(async (_options: { readonly timeout: number }) => report) } satisfies HealthSource;
}

describe('a connection as a check', () => {
  test('is called broker, or by its label', () => {
    expect(new BrokerHealth(connection()).name).toBe('broker');
    expect(new BrokerHealth(connection(), { label: 'orders' }).name).toBe('orders');
  });

  test('passes on what the connection says, as it is', async () => {
    const report = healthReport('up', { detail: 'blocked', parts: { blocked: true } });
    expect(await new BrokerHealth(connection(report)).check()).toBe(report);
  });

  test('gives the broker three seconds, or as long as it is told', async () => {
    const mq = connection();
    await new BrokerHealth(mq).check();
    await new BrokerHealth(mq, { timeout: '1.5s' }).check();
    await new BrokerHealth(mq, { timeout: 250 }).check();
    expect(mq.health.mock.calls).toEqual([[{ timeout: 3_000 }], [{ timeout: 1_500 }], [{ timeout: 250 }]]);
  });

  test('asks the connection itself, so that a class with private state works', async () => {
    class Connection implements HealthSource {
      readonly #report = healthReport('degraded');
      health() {
        return Promise.resolve(this.#report);
      }
    }
    expect((await new BrokerHealth(new Connection()).check()).status).toBe('degraded');
  });
});

describe('it is refused', () => {
  test.for<[string, unknown[], string]>([
    ['without a connection', [], 'must be given a connection, not of type undefined'],
    ['for a URL', ['amqp://user:secret@host'], 'must be given a connection, not of type string'],
    ['for an object without health', [{}], 'must be given a connection, not of type object'],
    ['for an empty label', [connection(), { label: '' }], 'label must be text that is not empty, not ""'],
    [
      'for a label of blanks',
      [connection(), { label: ' ' }],
      'label must be text that is not empty, not " "',
    ],
    ['for a label that is no text', [connection(), { label: 5 }], 'not 5'],
    ['for no time', [connection(), { timeout: 0 }], 'timeout must be at least 1ms, not 0'],
    ['for a negative time', [connection(), { timeout: -1 }], 'timeout must be at least 1ms, not -1'],
    ['for a time that is no number', [connection(), { timeout: Number.NaN }], 'not NaN'],
    ['for a time without an end', [connection(), { timeout: Number.POSITIVE_INFINITY }], 'not Infinity'],
    ['for a time without a unit', [connection(), { timeout: '3' }], 'not "3"'],
    ['for an option that nobody reads', [connection(), { name: 'x' }], 'has no option "name"'],
  ])('%s', ([, given, words]) => {
    const make = (): unknown => Reflect.construct(BrokerHealth, given);
    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(words);
    expect(make).not.toThrow('secret');
  });
});
