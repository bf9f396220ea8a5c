import { describe, expect, it } from 'vitest';
import * as core from '../src/index.ts';
import {
  AceMQError,
  BatchPublishError,
  BrokerRefusedError,
  ConfigurationError,
  ConnectError,
  FatalError,
  isFatal,
  PublishError,
  PublishingPausedError,
  TopologyError,
} from '../src/index.ts';

import { secondCopy } from './second-copy.ts';

class BadOrder extends FatalError {}

class BadLine extends BadOrder {}

describe('an error of the library', () => {
  it('has a name, a code and a cause', () => {
    const cause = new Error('root');
    const error = new ConfigurationError('no', { cause });
    expect(error).toBeInstanceOf(Error);
    expect(error.name).toBe('ConfigurationError');
    expect(error.code).toBe('ACEMQ_CONFIGURATION');
    expect(error.retryable).toBe(false);
    expect(error.cause).toBe(cause);
    expect('cause' in new ConfigurationError('no')).toBe(false);
  });

  it('is named after its class in every class that is exported', () => {
    const classes = Object.entries(core).filter(([name]) => /^[A-Z].*Error$/.test(name));
    expect(classes.length).toBeGreaterThanOrEqual(17);
    for (const [name, value] of classes) {
      expect((value as { readonly prototype: Error }).prototype.name).toBe(name);
    }
  });

  it('is recognised across copies of the package, by its own class and by each above it', async () => {
    const copy = await secondCopy<typeof import('../src/errors.ts')>('errors.ts');
    const paused = new copy.PublishingPausedError('blocked');
    expect(copy.PublishingPausedError).not.toBe(PublishingPausedError);
    expect(paused).toBeInstanceOf(PublishingPausedError);
    expect(paused).toBeInstanceOf(PublishError);
    expect(paused).toBeInstanceOf(AceMQError);
    expect(paused).not.toBeInstanceOf(ConfigurationError);
    expect(new PublishError('x')).not.toBeInstanceOf(copy.PublishingPausedError);
    expect(isFatal(new copy.FatalError('x'))).toBe(true);
  });

  it('is not taken for a class that a user derives from it', async () => {
    const copy = await secondCopy<typeof import('../src/errors.ts')>('errors.ts');
    expect(new BadOrder('x')).toBeInstanceOf(BadOrder);
    expect(new BadOrder('x')).toBeInstanceOf(FatalError);
    expect(new BadOrder('x')).toBeInstanceOf(copy.FatalError);
    expect(new BadLine('x')).toBeInstanceOf(BadOrder);
    expect(new FatalError('x')).not.toBeInstanceOf(BadOrder);
    expect(new BadOrder('x')).not.toBeInstanceOf(BadLine);
    expect(new copy.FatalError('x')).not.toBeInstanceOf(BadOrder);
  });

  it.each([undefined, null, 5, 'ConfigurationError', {}, new Error('x')])('is not %o', (value) => {
    expect(value).not.toBeInstanceOf(AceMQError);
  });
});

describe('isFatal', () => {
  it('finds a FatalError anywhere in the chain of causes', () => {
    const fatal = new BadOrder('x');
    expect(isFatal(fatal)).toBe(true);
    expect(isFatal(new Error('outer', { cause: new Error('middle', { cause: fatal }) }))).toBe(true);
    expect(isFatal(new Error('outer', { cause: 'text' }))).toBe(false);
    expect(isFatal('FatalError')).toBe(false);
    expect(isFatal(undefined)).toBe(false);
  });

  it('comes to an end in a chain that runs in a circle', () => {
    const one = new Error('one');
    one.cause = new Error('two', { cause: one });
    expect(isFatal(one)).toBe(false);
  });
});

describe('an error that carries more than its words', () => {
  it('tells an unreachable broker from one that refuses', () => {
    expect(new ConnectError('x')).toMatchObject({
      code: 'ACEMQ_CONNECT_FAILED',
      retryable: true,
      refused: false,
    });
    expect(new ConnectError('x', { refused: true })).toMatchObject({
      code: 'ACEMQ_CONNECT_REFUSED',
      retryable: false,
      refused: true,
    });
  });

  it('keeps the broker’s number and words', () => {
    const error = new BrokerRefusedError(404, 'NOT_FOUND - no queue', {
      what: 'consuming from "orders" failed',
    });
    expect(error).toMatchObject({ replyCode: 404, replyText: 'NOT_FOUND - no queue' });
    expect(error.message).toBe('consuming from "orders" failed: 404 NOT_FOUND - no queue');
  });

  it('tells a topology that contradicts itself from one that contradicts the broker', () => {
    const difference = {
      kind: 'queue',
      name: 'q',
      argument: 'durable',
      wanted: 'true',
      found: 'false',
    } as const;
    expect(new TopologyError('x')).toMatchObject({ code: 'ACEMQ_TOPOLOGY', differences: [] });
    expect(new TopologyError('x', { differences: [difference] })).toMatchObject({
      code: 'ACEMQ_TOPOLOGY_DRIFT',
      differences: [difference],
    });
  });

  it('sums up a batch, which is unroutable only when every failure was', () => {
    const unroutable = new PublishError('no queue', { code: 'ACEMQ_PUBLISH_UNROUTABLE' });
    const lost = new PublishError('lost', {
      code: 'ACEMQ_PUBLISH_LOST',
      mayHaveArrived: true,
      retryable: true,
    });
    const mixed = new BatchPublishError([undefined, unroutable, lost]);
    expect(mixed).toMatchObject({
      total: 3,
      confirmed: 1,
      failed: 2,
      unroutable: false,
      mayHaveArrived: true,
    });
    expect(mixed.message).toBe('2 of 3 messages were not confirmed; 1 were. The first failure was: no queue');
    expect(mixed.cause).toBe(unroutable);
    expect(new BatchPublishError([unroutable, unroutable]).unroutable).toBe(true);
  });
});
