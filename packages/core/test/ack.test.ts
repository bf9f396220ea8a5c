import { describe, expect, it } from 'vitest';
import { accept, inProgress, isAck, park, reject, retry } from '../src/index.ts';
import { secondCopy } from './second-copy.ts';

describe('an ack', () => {
  it('is frozen, and says what was decided and why', () => {
    const why = new Error('why');
    for (const [ack, decision] of [
      [retry(why), 'retry'],
      [reject(why), 'reject'],
      [park(why), 'park'],
    ] as const) {
      expect(Object.isFrozen(ack)).toBe(true);
      expect(ack).toEqual({ decision, error: why });
      expect(isAck(ack)).toBe(true);
    }
  });

  it('is one and the same object for accept and for inProgress', () => {
    expect(accept()).toBe(accept());
    expect(inProgress()).toBe(inProgress());
    expect(isAck(accept())).toBe(true);
    expect(isAck(inProgress())).toBe(true);
  });

  it('is recognised when another copy of the package made it', async () => {
    const copy = await secondCopy<typeof import('../src/ack.ts')>('ack.ts');
    expect(copy.accept()).not.toBe(accept());
    expect(isAck(copy.accept())).toBe(true);
    expect(copy.isAck(retry())).toBe(true);
  });

  it.each([undefined, null, true, 'accept', {}, [], { decision: 'accept' }, () => accept()])(
    'is not %o',
    (value) => {
      expect(isAck(value)).toBe(false);
    },
  );
});
