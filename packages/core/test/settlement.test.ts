import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Settlement } from '../src/index.ts';
import {
  accept,
  createEnvelope,
  DecodeError,
  exponential,
  FatalError,
  fixed,
  inProgress,
  isDeadLettered,
  isParked,
  LONGEST_REASON,
  none,
  park,
  readEnvelope,
  reject,
  retry,
  settle,
  settleUndecodable,
  withEnvelope,
} from '../src/index.ts';

const NOW = 1_767_323_045_678;
const half = (): number => 0.5;
const envelope = createEnvelope({ id: 'm-1' }, { routingKey: 'k', now: NOW });
const policy = exponential(4, '10s', '5m').giveUpAfter('1h');

const at = (attempt: number, ack: unknown, age = 0): Settlement =>
  settle(ack, withEnvelope(envelope, { attempt }), policy, NOW + age, half);

describe('settling', () => {
  it('an accept changes nothing about the envelope', () => {
    const settlement = settle(accept(), envelope, policy, NOW, half);
    expect(settlement).toEqual({
      outcome: 'acked',
      reason: undefined,
      delay: undefined,
      inBroker: false,
      envelope,
      target: undefined,
    });
    expect(settlement.envelope).toBe(envelope);
    expect(Object.isFrozen(settlement)).toBe(true);
  });

  it('a retry waits where the policy says, with one attempt more', () => {
    expect(at(1, retry(new Error('x')))).toMatchObject({
      outcome: 'retried',
      reason: undefined,
      delay: 10_000,
      inBroker: false,
      target: undefined,
      envelope: { id: 'm-1', attempt: 2, firstSeen: NOW, error: undefined },
    });
    expect(at(3, retry())).toMatchObject({
      outcome: 'retried',
      delay: 40_000,
      inBroker: true,
      envelope: { attempt: 4 },
    });
  });

  it('a retry out of attempts is dead-lettered, with the attempt as it was', () => {
    const settlement = at(4, retry(new Error('no stock')));
    expect(settlement).toMatchObject({ outcome: 'dead_lettered', target: 'dlq', delay: undefined });
    expect(settlement.reason).toBe('exhausted 4 attempts: Error: no stock');
    expect(settlement.envelope).toMatchObject({ attempt: 4, error: settlement.reason });
  });

  it('a retry of a message that is too old is dead-lettered, and the attempts are named where both have run out', () => {
    expect(at(1, retry('slow'), 3_600_000).reason).toBe('exceeded the maximum message age of 1h: slow');
    expect(at(1, retry('slow'), 3_599_999).outcome).toBe('retried');
    expect(at(4, retry('slow'), 3_600_000).reason).toBe('exhausted 4 attempts: slow');
  });

  it('a retry without a policy says that there is none', () => {
    const { reason } = settle(retry(new Error('x')), envelope, none(), NOW, half);
    expect(reason).toBe('exhausted 1 attempt, as no retry policy allows another: Error: x');
  });

  it('a retry of what is fatal is dead-lettered at once, wherever in the causes it is', () => {
    for (const error of [new FatalError('bad'), new Error('outer', { cause: new FatalError('bad') })]) {
      const settlement = at(1, retry(error));
      expect(settlement).toMatchObject({ outcome: 'dead_lettered', target: 'dlq', envelope: { attempt: 1 } });
      expect(settlement.reason).toMatch(
        /^the handler reported an unprocessable message: (FatalError: bad|Error: outer \(FatalError: bad\))$/,
      );
    }
  });

  it('a reject goes to the dead letters, a park to the parked, each with its reason', () => {
    expect(at(1, reject(new Error('no')))).toMatchObject({
      outcome: 'rejected',
      target: 'dlq',
      reason: 'the handler rejected it: Error: no',
      envelope: { attempt: 1, error: 'the handler rejected it: Error: no' },
    });
    expect(at(1, park())).toMatchObject({
      outcome: 'parked',
      target: 'parked',
      reason: 'the handler parked it: no reason given',
    });
  });

  it('a message in progress comes back in five seconds as it was', () => {
    const settlement = settle(inProgress(), envelope, none(), NOW, half);
    expect(settlement).toMatchObject({
      outcome: 'in_progress',
      delay: 5000,
      inBroker: false,
      target: undefined,
    });
    expect(settlement.envelope).toBe(envelope);
  });

  it.each([
    [undefined, 'undefined'],
    [null, 'null'],
    [true, 'true'],
    ['accept', 'a string'],
    [5, 'a number'],
    [accept, 'a function'],
    [{ decision: 'accept' }, 'an object (Object)'],
    [Object.create(null), 'an object'],
    [[], 'an object (Array)'],
  ])('a handler that returned %o has its message dead-lettered', (value, words) => {
    expect(at(1, value)).toMatchObject({
      outcome: 'dead_lettered',
      target: 'dlq',
      reason: `the handler returned ${words} instead of an Ack`,
    });
  });

  it('a body that cannot be read is parked', () => {
    expect(settleUndecodable(new DecodeError('not JSON'), envelope)).toMatchObject({
      outcome: 'parked',
      target: 'parked',
      reason: 'could not be decoded: DecodeError: not JSON',
    });
  });

  it('keeps what came with the message and is unknown to this version', () => {
    const read = readEnvelope(
      { headers: { 'x-acemq-future': 'f', h: 1 }, messageId: 'm', routingKey: 'k' },
      NOW,
    );
    for (const ack of [retry(), reject(), park(), inProgress()]) {
      const settled = settle(ack, read, policy, NOW, half).envelope;
      expect(settled.unknownHeaders).toBe(read.unknownHeaders);
      expect(settled.headers).toBe(read.headers);
    }
  });

  it('never throws, whatever the handler threw or returned', () => {
    const hostile = new Error('x');
    Object.defineProperty(hostile, 'cause', {
      get: () => {
        throw new Error('from the getter');
      },
    });
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(at(1, retry(hostile)).outcome).toBe('retried');
    expect(at(4, retry(proxy)).reason).toBe('exhausted 4 attempts: an error that cannot be described');
    expect(at(1, proxy).outcome).toBe('dead_lettered');
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true, withBigInt: true }), (value) => {
        for (const ack of [retry(value), reject(value), park(value), value]) at(4, ack);
      }),
    );
  });
});

describe('a reason', () => {
  it('is cut to what a header should carry, and says so', () => {
    const { reason } = at(4, retry('x'.repeat(5000)));
    expect(reason).toHaveLength(LONGEST_REASON);
    expect(reason?.endsWith('x…')).toBe(true);
    const whole = 'y'.repeat(LONGEST_REASON - 'exhausted 4 attempts: '.length);
    expect(at(4, retry(whole)).reason?.endsWith('yy')).toBe(true);
  });

  it('is never cut inside a character', () => {
    for (const lead of ['', 'a']) {
      const { reason } = at(4, retry(lead + '😀'.repeat(2000)));
      expect(Buffer.from(reason ?? '').toString()).toBe(reason);
      expect(reason?.length).toBeGreaterThanOrEqual(LONGEST_REASON - 1);
      expect(reason?.length).toBeLessThanOrEqual(LONGEST_REASON);
    }
  });
});

describe('where a settlement ends', () => {
  it('tells dead letters from parked ones', () => {
    const rows = [accept(), inProgress(), retry(), reject(), park()].map((ack) =>
      settle(ack, envelope, fixed(1, 0), NOW, half),
    );
    expect(rows.map((row) => [row.outcome, isDeadLettered(row), isParked(row)])).toEqual([
      ['acked', false, false],
      ['in_progress', false, false],
      ['dead_lettered', true, false],
      ['rejected', true, false],
      ['parked', false, true],
    ]);
  });
});
