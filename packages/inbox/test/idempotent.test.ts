import {
  type Ack,
  accept,
  ConfigurationError,
  FatalError,
  type Handler,
  inProgress,
  park,
  reject,
  retry,
} from '@acemq/core';
import { describe, expect, it } from 'vitest';
import { type InboxStore, idempotent, memoryInbox } from '../src/index.ts';
import { keepingLogger, messageOf } from './messages.ts';

/** A handler that counts, and answers what it is told to, run by run. */
function counting(...answers: (Ack | Error | undefined)[]): Handler & { runs: number } {
  const handler = Object.assign(
    () => {
      const answer = answers[Math.min(handler.runs, answers.length - 1)];
      handler.runs += 1;
      if (answer instanceof Error) throw answer;
      return answer as Ack;
    },
    { runs: 0 },
  );
  return handler;
}

describe('idempotent', () => {
  it.each([
    ['retries', retry(new Error('no stock'))],
    ['rejects', reject('bad')],
    ['parks', park('look')],
    ['is in progress', inProgress()],
    ['returns nothing', undefined],
  ])(
    'gives the claim back where the handler %s, so that the next delivery runs it',
    async (_what, answer) => {
      const handler = counting(answer, accept());
      const once = idempotent(handler, memoryInbox());
      const message = messageOf({});
      expect(await once(message)).toBe(answer);
      expect(await once(message)).toBe(accept());
      expect(await once(message)).toBe(accept());
      expect(handler.runs).toBe(2);
    },
  );

  it('gives the claim back where the handler throws, and throws its error on', async () => {
    const failed = new Error('no stock');
    const handler = counting(failed, accept());
    const once = idempotent(handler, memoryInbox());
    const message = messageOf({});
    await expect(Promise.resolve(once(message))).rejects.toBe(failed);
    expect(await once(message)).toBe(accept());
    expect(handler.runs).toBe(2);
  });

  it('does not run while another is at it', async () => {
    const store = memoryInbox();
    let repeat: Ack | undefined;
    const message = messageOf({});
    const once: Handler = idempotent(async () => {
      repeat = await inner(message);
      return accept();
    }, store);
    const inner = idempotent(counting(accept()), store);
    expect(await once(message)).toBe(accept());
    expect(repeat).toBe(inProgress());
  });

  it('keeps the queues apart that each get a copy of one event', async () => {
    const store = memoryInbox();
    const handler = counting(accept());
    const once = idempotent(handler, store);
    await once(messageOf({}, { id: 'm-1', queue: 'shipping.orders' }));
    await once(messageOf({}, { id: 'm-1', queue: 'billing.orders' }));
    expect(handler.runs).toBe(2);
  });

  it('takes them for one where they are given one scope', async () => {
    const handler = counting(accept());
    const once = idempotent(handler, memoryInbox(), { scope: 'orders' });
    await once(messageOf({}, { id: 'm-1', queue: 'shipping.orders' }));
    await once(messageOf({}, { id: 'm-1', queue: 'billing.orders' }));
    expect(handler.runs).toBe(1);
  });

  it('takes a key of the application instead of the id, within the scope', async () => {
    const handler = counting(accept());
    const once = idempotent<{ order: string }>(handler as Handler<{ order: string }>, memoryInbox(), {
      key: ({ payload }) => payload.order,
    });
    await once(messageOf({ order: 'o-1' }));
    await once(messageOf({ order: 'o-1' }));
    await once(messageOf({ order: 'o-1' }, { queue: 'billing.orders' }));
    expect(handler.runs).toBe(2);
  });

  it.each([
    ['empty', ''],
    ['not text', 7],
    ['not there', undefined],
    ['256 bytes long', 'x'.repeat(256)],
    ['more bytes than letters', 'é'.repeat(128)],
    ['cut by a zero byte', 'a\0b'],
    ['half of a surrogate pair', 'a\ud800b'],
  ])('a key that is %s is fatal, and the handler does not run', async (_what, key) => {
    const handler = counting(accept());
    const once = idempotent(handler, memoryInbox(), { key: () => key as string });
    await expect(Promise.resolve(once(messageOf({})))).rejects.toBeInstanceOf(FatalError);
    expect(handler.runs).toBe(0);
  });

  it('throws the error of a store that cannot tell, and the handler does not run', async () => {
    const down = new Error('connection refused');
    const handler = counting(accept());
    const once = idempotent(handler, broken({ claim: () => Promise.reject(down) }));
    await expect(Promise.resolve(once(messageOf({})))).rejects.toBe(down);
    expect(handler.runs).toBe(0);
  });

  it('accepts where the claim cannot be confirmed, since the work is done, and says so', async () => {
    const logger = keepingLogger();
    const store = broken({ confirm: () => Promise.reject(new Error('connection refused')) });
    expect(await idempotent(counting(accept()), store, { logger })(messageOf({}))).toBe(accept());
    expect(logger.lines).toEqual(['a claim could not be confirmed']);
  });

  it('accepts where the log fails over it too: a second run would do the work twice', async () => {
    const logger = {
      ...keepingLogger(),
      warn: () => {
        throw new Error('the log is full');
      },
    };
    const store = broken({ confirm: () => Promise.reject(new Error('connection refused')) });
    expect(await idempotent(counting(accept()), store, { logger })(messageOf({}))).toBe(accept());
  });

  it('gives the answer on where the claim cannot be released, and says so', async () => {
    const logger = keepingLogger();
    const store = broken({ release: () => Promise.reject(new Error('connection refused')) });
    const failed = new Error('no stock');
    await expect(
      Promise.resolve(idempotent(counting(failed), store, { logger })(messageOf({}))),
    ).rejects.toBe(failed);
    expect(logger.lines).toEqual(['a claim could not be released']);
  });

  it('says where a claim timed out under the handler', async () => {
    const logger = keepingLogger();
    const store = broken({ confirm: () => Promise.resolve(false) });
    expect(await idempotent(counting(accept()), store, { logger })(messageOf({}))).toBe(accept());
    expect(logger.lines).toEqual(['a claim timed out before the handler was done, which may have run twice']);
  });

  it.each([
    [{ scope: '' }, 'scope must be text that is not empty'],
    [{ scope: 7 }, 'scope must be text that is not empty, not 7'],
    [{ scope: 'x'.repeat(256) }, 'scope takes 256 bytes'],
    [{ key: 'id' }, 'key must be a function of the message'],
    [{ scop: 'x' }, 'idempotent has no option "scop"'],
    [{ logger: {} }, 'logger must have the methods warn; missing: warn'],
  ])('refuses the options %j', (options, words) => {
    const make = (): unknown => idempotent(counting(accept()), memoryInbox(), options as never);
    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(words);
  });
});

/** A store that works but for what is given. */
function broken(parts: Partial<InboxStore>): InboxStore {
  return {
    claim: () => Promise.resolve({ answer: 'claimed', owner: 'me' }),
    confirm: () => Promise.resolve(true),
    release: () => Promise.resolve(true),
    close: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
    ...parts,
  };
}
