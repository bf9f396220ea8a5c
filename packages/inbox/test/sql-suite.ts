import { type Ack, accept, ConfigurationError, inProgress, isFatal, park, reject, retry } from '@acemq/core';
import {
  type Dialect,
  failureOf,
  integer,
  type SqlDatabase,
  type SqlTransaction,
  sql,
  type TableName,
} from '@acemq/sql';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { idempotentTransaction, type SqlInbox, type SqlInboxOptions, sqlInbox } from '../src/index.ts';
import { deferred } from './deferred.ts';
import { keepingLogger, messageOf, ownName } from './messages.ts';
import { storeSuite } from './store-suite.ts';

export interface SqlSuiteSetup {
  readonly dialect: Dialect;
  /** A database of its own connections. */
  open(): Promise<{ readonly database: SqlDatabase; close(): Promise<void> }>;
}

/** What every store on a database promises, beside what all promise. */
export function sqlSuite({ dialect, open }: SqlSuiteSetup): void {
  let opened: Awaited<ReturnType<typeof open>>;
  let database: SqlDatabase;
  let table: TableName;
  let effects: TableName;
  let inbox: SqlInbox;

  const inboxOn = (options: SqlInboxOptions = {}): SqlInbox =>
    sqlInbox(database, { table: table.name, cleanEvery: false, ...options });

  beforeAll(async () => {
    opened = await open();
    database = opened.database;
    table = dialect.table(ownName('inbox'));
    effects = dialect.table(ownName('effects'));
    inbox = inboxOn();
    await inbox.migrate();
    await database.run(sql`create table ${effects} (id varchar(100) not null)`);
  });

  afterAll(async () => {
    await inbox.close();
    for (const one of [table, table.suffixed('_migrations'), effects])
      await database.run(sql`drop table ${one}`);
    await opened.close();
  });

  storeSuite(async (times) => {
    const store = inboxOn(times);
    return {
      store,
      pass: async ({ scope, id }, milliseconds) => {
        await database.run(
          sql`update ${table} set expires_at = expires_at - ${integer(milliseconds)} where scope = ${scope} and message_id = ${id}`,
        );
      },
      close: () => store.close(),
    };
  });

  const effectsOf = async (id: string): Promise<number> =>
    (await database.run(sql`select id from ${effects} where id = ${id}`)).rows.length;

  const writing =
    (answer: (runs: number) => Ack | Promise<Ack>) =>
    (runs = { count: 0 }) =>
    async (message: { readonly envelope: { readonly id: string } }, tx: SqlTransaction) => {
      await tx.run(sql`insert into ${effects} values (${message.envelope.id})`);
      runs.count += 1;
      return answer(runs.count);
    };

  describe('in one transaction', () => {
    it('what the handler wrote is committed with the confirmation, once', async () => {
      const id = ownName('m');
      const handler = idempotentTransaction(writing(() => accept())(), inbox);
      for (let delivery = 0; delivery < 3; delivery += 1) {
        expect(await handler(messageOf({}, { id }))).toBe(accept());
      }
      expect(await effectsOf(id)).toBe(1);
      expect(await inbox.claim({ scope: 'shipping.orders', id })).toEqual({ answer: 'duplicate' });
    });

    it.each([
      ['retries', () => retry(new Error('no stock'))],
      ['rejects', () => reject('bad')],
      ['parks', () => park('look')],
      ['is in progress', () => inProgress()],
      ['returns nothing', () => undefined as never],
    ])('nothing is left where the handler %s, and its answer is given on', async (_what, answer) => {
      const id = ownName('m');
      const runs = { count: 0 };
      const handler = idempotentTransaction(
        writing((count) => (count === 1 ? answer() : accept()))(runs),
        inbox,
      );
      const first: unknown = await handler(messageOf({}, { id }));
      const expected: unknown = answer();
      if (expected === undefined) expect(first).toBeUndefined();
      else expect(first).toEqual(expected);
      expect(await effectsOf(id)).toBe(0);
      expect(await handler(messageOf({}, { id }))).toBe(accept());
      expect(await effectsOf(id)).toBe(1);
    });

    it('nothing is left where the handler throws, and its error is thrown on', async () => {
      const id = ownName('m');
      const failed = new Error('no stock');
      const handler = idempotentTransaction(
        writing((count) => {
          if (count === 1) throw failed;
          return accept();
        })(),
        inbox,
      );
      await expect(handler(messageOf({}, { id }))).rejects.toBe(failed);
      expect(await effectsOf(id)).toBe(0);
      expect(await handler(messageOf({}, { id }))).toBe(accept());
      expect(await effectsOf(id)).toBe(1);
    });

    it('a repeat waits for the first, and is accepted without running once that has committed', async () => {
      const id = ownName('m');
      const [began, go] = [deferred(), deferred()];
      const runs = { count: 0 };
      const handler = idempotentTransaction(
        writing(async () => {
          began.resolve();
          await go.promise;
          return accept();
        })(runs),
        inbox,
        { lockWait: '10s' },
      );
      const first = handler(messageOf({}, { id }));
      await began.promise;
      let answered = false;
      const repeat = Promise.resolve(handler(messageOf({}, { id }))).finally(() => {
        answered = true;
      });
      // Long enough for an answer that waits for nothing.
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(answered).toBe(false);
      go.resolve();
      expect(await first).toBe(accept());
      expect(await repeat).toBe(accept());
      expect(runs.count).toBe(1);
      expect(await effectsOf(id)).toBe(1);
    });

    it('a repeat runs where the first rolled back', async () => {
      const id = ownName('m');
      const [began, go] = [deferred(), deferred()];
      const handler = idempotentTransaction(
        writing(async (count) => {
          if (count > 1) return accept();
          began.resolve();
          await go.promise;
          return retry();
        })(),
        inbox,
      );
      const first = handler(messageOf({}, { id }));
      await began.promise;
      const repeat = handler(messageOf({}, { id }));
      go.resolve();
      expect(await first).toMatchObject({ decision: 'retry' });
      expect(await repeat).toBe(accept());
      expect(await effectsOf(id)).toBe(1);
    });

    it('a repeat that waits too long comes back later', async () => {
      const id = ownName('m');
      const [began, go] = [deferred(), deferred()];
      const handler = idempotentTransaction(
        writing(async () => {
          began.resolve();
          await go.promise;
          return accept();
        })(),
        inbox,
        { lockWait: 100 },
      );
      const first = handler(messageOf({}, { id }));
      await began.promise;
      expect(await handler(messageOf({}, { id }))).toBe(inProgress());
      go.resolve();
      expect(await first).toBe(accept());
      expect(await effectsOf(id)).toBe(1);
    });

    it('a claim of the other form is somebody else at work', async () => {
      const id = ownName('m');
      const key = { scope: 'shipping.orders', id };
      const claim = await inbox.claim(key);
      const handler = idempotentTransaction(writing(() => accept())(), inbox);
      expect(await handler(messageOf({}, { id }))).toBe(inProgress());
      if (claim.answer === 'claimed') await inbox.release(key, claim.owner);
      expect(await handler(messageOf({}, { id }))).toBe(accept());
    });

    it('an empty key is fatal, and no transaction is opened', async () => {
      const handler = idempotentTransaction(writing(() => accept())(), inbox, { key: () => '' });
      const error: unknown = await Promise.resolve(handler(messageOf({}))).catch((reason: unknown) => reason);
      expect(isFatal(error)).toBe(true);
    });

    it('eight consumers and every message three times make one effect each', {
      timeout: 60_000,
    }, async () => {
      const ids = Array.from({ length: 40 }, () => ownName('m'));
      const handler = idempotentTransaction(writing(() => accept())(), inbox);
      const deliveries = [...ids, ...ids, ...ids].sort(() => Math.random() - 0.5);
      await Promise.all(
        Array.from({ length: 8 }, async () => {
          for (let id = deliveries.pop(); id !== undefined; id = deliveries.pop()) {
            const ack = await Promise.resolve(handler(messageOf({}, { id }))).catch((error: unknown) => {
              if (failureOf(error) !== 'conflict') throw error;
              return retry(error);
            });
            if (ack.decision !== 'accept') deliveries.push(id);
          }
        }),
      );
      for (const id of ids) expect(await effectsOf(id)).toBe(1);
    });
  });

  describe('the table', () => {
    it('that is not there is named, with the migration that makes it', async () => {
      const without = inboxOn({ table: ownName('none') });
      const claiming = without.claim({ scope: 's', id: 'i' });
      await expect(claiming).rejects.toThrow(ConfigurationError);
      await expect(claiming).rejects.toThrow(`@acemq/inbox/sql/${dialect.name}/001_inbox.sql`);
      const handler = idempotentTransaction(() => accept(), without);
      await expect(Promise.resolve(handler(messageOf({})))).rejects.toThrow(/the table .* is not there/);
    });

    it('is made once', async () => {
      expect(await inbox.migrate()).toEqual([]);
    });

    it.each(['a b', '', 'x;drop table y', 'x'.repeat(41)])('cannot be called %j', (name) => {
      expect(() => inboxOn({ table: name })).toThrow(ConfigurationError);
    });
  });

  describe('cleaning', () => {
    async function fill(count: number, expiresIn: number): Promise<string> {
      const scope = ownName('s');
      const rows = Array.from({ length: count }, (_, index) => [scope, `m-${index}`] as const);
      await database.transaction(async (tx) => {
        for (const [at, id] of rows) {
          await tx.run(
            sql`insert into ${table} (scope, message_id, owner, claimed_at, expires_at) values (${at}, ${id}, ${null}, ${0}, ${dialect.now} + ${integer(expiresIn)})`,
          );
        }
      });
      return scope;
    }
    const left = async (scope: string): Promise<number> =>
      (await database.run(sql`select message_id from ${table} where scope = ${scope}`)).rows.length;

    it('removes what is past its deadline, a batch at a time, and nothing else', async () => {
      while ((await inbox.clean()) > 0);
      const [past, kept] = [await fill(1500, -1000), await fill(3, 60_000)];
      expect(await inbox.clean()).toBe(1000);
      expect(await inbox.clean()).toBe(500);
      expect(await left(past)).toBe(0);
      expect(await left(kept)).toBe(3);
    });

    it('runs in the background', async () => {
      const past = await fill(3, -1000);
      const logger = keepingLogger();
      const store = inboxOn({ cleanEvery: 1000, logger });
      await vi.waitFor(async () => expect(await left(past)).toBe(0), { timeout: 10_000, interval: 100 });
      await store.close();
      expect(logger.lines).toEqual([]);
    });
  });
}
