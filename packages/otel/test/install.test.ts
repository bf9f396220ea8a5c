import { type Connection, connect } from '@acemq/amqp';
import { ConfigurationError } from '@acemq/core';
import { memoryBroker } from '@acemq/testing';
import { describe, expect, it } from 'vitest';
import { OpenTelemetryTracing } from '../src/index.ts';
import { traced } from './setting.ts';

describe('install', () => {
  it('is refused the second time on a connection, which would have every span twice', async () => {
    const { mq, tracing, queue, spans } = await traced();
    for (const again of [tracing, new OpenTelemetryTracing()]) {
      expect(() => again.install(mq)).toThrow('tracing is installed on this connection already');
    }
    await mq.publisher({ routingKey: queue }).send({});
    expect(spans()).toHaveLength(1);
  });

  it.each<[string, () => unknown, string]>([
    ['a promise of a connection', () => connect(memoryBroker()), 'the promise of one; await it first'],
    ['a URL', () => 'amqp://user:secret@host', 'not of type string'],
    ['nothing', () => undefined, 'not of type undefined'],
    ['null', () => null, 'not of type object'],
    ['another object', () => ({ interceptPublish() {} }), 'not of type object'],
  ])('is refused %s', async (_what, make, words) => {
    const given = make();
    const install = (): unknown => new OpenTelemetryTracing().install(given as Connection);
    expect(install).toThrow(ConfigurationError);
    expect(install).toThrow(words);
    expect(install).not.toThrow('secret');
    await (await (given as Promise<Connection> | undefined))?.close?.();
  });
});
