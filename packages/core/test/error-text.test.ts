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
});
