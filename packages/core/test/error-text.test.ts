import { describe, expect, it } from 'vitest';
import { ConfigurationError, describeError, FatalError } from '../src/index.ts';

class PaymentDeclined extends Error {}

class BadOrder extends FatalError {}

class Named extends Error {
  override readonly name = 'GivenName';
}

describe('describeError', () => {
  it.each([
    [new Error('boom'), 'Error: boom'],
    [new TypeError('boom'), 'TypeError: boom'],
    [new ConfigurationError('boom'), 'ConfigurationError: boom'],
    [new PaymentDeclined('no funds'), 'PaymentDeclined: no funds'],
    [new BadOrder('no lines'), 'BadOrder: no lines'],
    [new Named('x'), 'GivenName: x'],
    [new Error(), 'Error'],
    [new PaymentDeclined(), 'PaymentDeclined'],
    ['just text', 'just text'],
    ['', 'no reason given'],
    [undefined, 'no reason given'],
    [null, 'no reason given'],
    [42, '42'],
    [false, 'false'],
    [7n, '7'],
    [Symbol('s'), 'Symbol(s)'],
    [{ message: 'from elsewhere' }, 'Object: from elsewhere'],
    [{ name: 'RpcError', message: 'from elsewhere' }, 'RpcError: from elsewhere'],
    [{ message: 5 }, 'Object'],
    [Object.create(null), 'Object'],
    [[1, 2], 'Array'],
    [
      new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED 127.0.0.1:1') }),
      'TypeError: fetch failed (Error: connect ECONNREFUSED 127.0.0.1:1)',
    ],
    [new Error('wrapped', { cause: new FatalError('never') }), 'Error: wrapped (FatalError: never)'],
    [new Error('a: inner', { cause: new Error('inner') }), 'Error: a: inner'],
    [new Error('outer', { cause: 'a text' }), 'Error: outer (a text)'],
    [Object.assign(new Error(), { code: 'ECONNRESET' }), 'Error: ECONNRESET'],
    [
      new AggregateError([new Error('one'), new Error('two'), new Error('three'), new Error('four')]),
      'AggregateError: Error: one; Error: two; Error: three; and 1 more',
    ],
    [new AggregateError([new Error('one')], 'all failed'), 'AggregateError: all failed: Error: one'],
    [new AggregateError([]), 'AggregateError'],
  ])('says %o as %j', (error, text) => {
    expect(describeError(error)).toBe(text);
  });

  it('never throws, whatever was thrown', () => {
    const hostile = {
      get message(): string {
        throw new Error('from the getter');
      },
    };
    expect(describeError(hostile)).toBe('an error that cannot be described');
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(describeError(proxy)).toBe('an error that cannot be described');
  });

  it('ends, however long or round the chain of causes', () => {
    const round = new Error('round');
    round.cause = round;
    expect(describeError(round)).toBe('Error: round');
    let deep = new Error('0');
    for (let depth = 1; depth <= 10; depth += 1) deep = new Error(`level ${depth}.`, { cause: deep });
    expect(describeError(deep)).toBe(
      'Error: level 10. (Error: level 9. (Error: level 8. (Error: level 7. (Error: level 6.))))',
    );
    const several = new AggregateError([], 'round');
    several.errors.push(several);
    expect(describeError(several).length).toBeLessThan(500);
  });
});
