import { readFileSync } from 'node:fs';
import { ConfigurationError } from '@acemq/core';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  aggregateHealth,
  BrokerHealth,
  HEALTH_SENTENCES,
  HEALTH_STATUSES,
  type HealthCheck,
  healthReport,
} from '../src/index.ts';
import { answering, answeringAnything, failing, holding } from './checks.ts';

const fixture = JSON.parse(
  readFileSync(new URL('../../../contract-fixtures/telemetry.json', import.meta.url), 'utf8'),
) as { readonly health: { readonly late: string; readonly failed: string; readonly blocked: string } };

describe('several checks', () => {
  test('are one report, with the report of each under its name', async () => {
    const ofBroker = healthReport('up', { parts: { consumers: 2, blocked: null } });
    const ofDatabase = healthReport('degraded', { detail: 'the replica is behind' });
    const mq = { health: async () => ofBroker };
    const databaseCheck = answering('database', ofDatabase);

    // report = await aggregate_health(BrokerHealth(mq), database_check, timeout=5.0)
    const report = await aggregateHealth([new BrokerHealth(mq), databaseCheck], { timeout: '5s' });

    // report.parts["broker"]      # the connection's own report
    expect(report.parts['broker']).toEqual(ofBroker);
    // report.parts["database"]
    expect(report.parts['database']).toEqual(ofDatabase);
    expect(`${report.parts['database']}`).toBe('degraded: the replica is behind');
    expect(`${report}`).toBe('degraded: database: the replica is behind');
    expect(Object.keys(report.parts)).toEqual(['broker', 'database']);
  });

  // The combined status is the worst of them
  test.for(HEALTH_STATUSES.flatMap((a) => HEALTH_STATUSES.map((b) => [a, b] as const)))(
    '%s and %s are the worse of the two',
    async ([a, b]) => {
      const worse = HEALTH_STATUSES[Math.max(HEALTH_STATUSES.indexOf(a), HEALTH_STATUSES.indexOf(b))];
      const report = await aggregateHealth([
        answering('a', healthReport(a)),
        answering('b', healthReport(b)),
        answering('c'),
      ]);
      expect(report.status).toBe(worse);
      expect(report.healthy).toBe(worse !== 'down');
    },
  );

  test('say in the top line each one that is not up or has something to say, in the order given', async () => {
    const detail = `${fixture.health.blocked}: low on disk`;
    const report = await aggregateHealth([
      answering('queue', healthReport('degraded', { detail: 'behind' })),
      answering('cache'),
      // A blocked broker comes through BrokerHealth as up
      new BrokerHealth({ health: async () => healthReport('up', { detail, parts: { blocked: true } }) }),
      answering('silent', healthReport('degraded')),
    ]);
    expect(report.status).toBe('degraded');
    expect(report.detail).toBe(`queue: behind; broker: ${detail}; silent: degraded`);
    expect(report.parts['broker']).toMatchObject({ status: 'up', parts: { blocked: true } });
  });

  test('are up where there are none', async () => {
    const report = await aggregateHealth([]);
    expect(report).toMatchObject({ status: 'up', healthy: true, detail: '', parts: {} });
  });

  test('may be several in turn', async () => {
    const inner: HealthCheck = {
      name: 'stores',
      check: () => aggregateHealth([answering('a'), failing('b', new Error('no'))]),
    };
    const report = await aggregateHealth([inner]);
    expect(report.detail).toBe('stores: b: the check itself failed: Error: no');
  });

  test('may have any name', async () => {
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'a: b; c', 'ü'];
    const down = healthReport('down', { detail: 'no' });
    const report = await aggregateHealth(names.map((name) => answering(name, down)));
    expect(Object.keys(report.parts)).toEqual(names);
    expect(Object.getPrototypeOf(report.parts)).toBe(Object.prototype);
    expect(Object.keys(JSON.parse(JSON.stringify(report)).parts)).toEqual(names);
    expect(`${report}`.startsWith('down: __proto__: no; constructor: no; ')).toBe(true);
  });

  // Checks run at once rather than in turn
  test('are asked at once, and asked once', async () => {
    const slow = [holding('a'), holding('b'), holding('c')];
    const asking = aggregateHealth(slow);
    expect(slow.map(({ asked }) => asked())).toEqual([1, 1, 1]);
    for (const { answer } of slow.reverse()) answer(healthReport('up'));
    expect((await asking).status).toBe('up');
  });

  test('are asked as they are, so that a class with private state works', async () => {
    class Check implements HealthCheck {
      readonly name = 'mine';
      readonly #report = healthReport('degraded');
      check() {
        return Promise.resolve(this.#report);
      }
    }
    expect((await aggregateHealth([new Check()])).status).toBe('degraded');
  });
});

describe('a check that fails', () => {
  const UP = answering('other', healthReport('up', { parts: { seen: true } }));
  const cases: [string, HealthCheck, string][] = [
    // A check that raises is caught and reported as down rather than being allowed to take the probe down.
    ['rejects', failing('bad', new Error('no route')), 'Error: no route'],
    [
      'rejects with a cause, as fetch does',
      failing('bad', new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED ::1:1') })),
      'TypeError: fetch failed (Error: connect ECONNREFUSED ::1:1)',
    ],
    [
      'throws before there is a promise',
      {
        name: 'bad',
        check: () => {
          throw new RangeError('too far');
        },
      },
      'RangeError: too far',
    ],
    ['rejects with text', failing('bad', 'closed'), 'closed'],
    ['rejects with nothing', failing('bad', undefined), 'no reason given'],
    ['answers nothing', answeringAnything('bad', undefined), 'it answered undefined, which is no report'],
    ['answers null', answeringAnything('bad', null), 'it answered null, which is no report'],
    ['answers true', answeringAnything('bad', true), 'it answered true, which is no report'],
    ['answers a status alone', answeringAnything('bad', 'up'), 'it answered "up", which is no report'],
    ['answers another object', answeringAnything('bad', {}), 'it answered an object, which is no report'],
    ['answers the rows of a query', answeringAnything('bad', [{ ok: 1 }]), 'a list, which is no report'],
    [
      'answers a status that is none',
      answeringAnything('bad', { status: 'UP', detail: '', parts: {} }),
      'status must be up, degraded, down, and is "UP"',
    ],
    [
      'answers a detail that is no text',
      answeringAnything('bad', { status: 'up', detail: 5 }),
      'detail must be text, and is 5',
    ],
    [
      'answers something that throws when it is read',
      answeringAnything('bad', {
        get status() {
          throw new Error('hidden');
        },
      }),
      'Error: hidden',
    ],
    [
      'answers a thenable that throws',
      {
        name: 'bad',
        check: () =>
          ({
            // biome-ignore lint/suspicious/noThenProperty: that is what the test is about
            then: () => {
              throw new Error('no promise');
            },
          }) as never,
      },
      'Error: no promise',
    ],
  ];

  test.for(cases)(
    'because it %s is down by name, and the others are what they are',
    async ([, check, words]) => {
      const report = await aggregateHealth([UP, check]);
      expect(report.status).toBe('down');
      const detail = (report.parts['bad'] as { readonly detail: string }).detail;
      expect(detail.startsWith(`${fixture.health.failed}: `)).toBe(true);
      expect(detail).toContain(words);
      expect(report.detail).toBe(`bad: ${detail}`);
      expect(report.parts['other']).toMatchObject({ status: 'up', parts: { seen: true } });
    },
  );

  test('is not confused with one that puts its report together by hand', async () => {
    const handmade = { status: 'degraded', detail: 'behind', healthy: false };
    const report = await aggregateHealth([answeringAnything('mine', handmade)]);
    expect(report.parts['mine']).toMatchObject({
      status: 'degraded',
      healthy: true,
      detail: 'behind',
      parts: {},
    });
    expect(`${report.parts['mine']}`).toBe('degraded: behind');
  });
});

describe('the deadline', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  // A check that times out is reported as down with the reason
  test.for<[number | undefined, string]>([
    [undefined, '5s'],
    [1_500, '1.5s'],
    [250, '0.25s'],
  ])('of %s ms gives up what does not answer, by name', async ([timeout, words]) => {
    const asking = aggregateHealth([answering('fast'), holding('slow')], { timeout });
    const settled = vi.fn();
    void asking.then(settled);
    await vi.advanceTimersByTimeAsync((timeout ?? 5_000) - 1);
    expect(settled).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(2);
    expect(settled).toHaveBeenCalledTimes(1);
    const report = await asking;
    expect(`${report}`).toBe(`down: slow: ${fixture.health.late} ${words}`);
    expect(report.parts['fast']).toMatchObject({ status: 'up' });
    expect(report.parts['slow']).toMatchObject({ status: 'down', detail: `did not answer within ${words}` });
  });

  test('is one for all checks, and is gone when they have answered', async () => {
    const slow = holding('slow');
    const asking = aggregateHealth([slow, answering('a'), answering('b')]);
    expect(vi.getTimerCount()).toBe(1);
    slow.answer(healthReport('up'));
    await asking;
    expect(vi.getTimerCount()).toBe(0);
  });

  test('drops what comes after it, and nothing is unhandled', async () => {
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    onTestFinished(() => void process.off('unhandledRejection', unhandled));
    const [late, bad] = [holding('late'), holding('bad')];
    const asking = aggregateHealth([late, bad], { timeout: '1s' });
    await vi.advanceTimersByTimeAsync(1_001);
    const report = await asking;
    late.answer(healthReport('up'));
    bad.fail(new Error('after all'));
    vi.useRealTimers();
    // Node tells of an unhandled rejection once the microtasks are through.
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).not.toHaveBeenCalled();
    expect(report.detail).toBe('late: did not answer within 1s; bad: did not answer within 1s');
  });

  // so a broker that has stopped answering is described by the check that looked rather than by the aggregate giving up on it
  test.for<[string, Parameters<typeof aggregateHealth>[1]]>([
    ['by default', {}],
    ['within the same three seconds too', { timeout: '3s' }],
  ])('lets a silent broker be described by the check that looked, %s', async ([, options]) => {
    const detail = `${HEALTH_SENTENCES.silent} within 3s`;
    const mq = {
      health: ({ timeout }: { readonly timeout: number }) =>
        new Promise<ReturnType<typeof healthReport>>((resolve) => {
          setTimeout(() => resolve(healthReport('down', { detail })), timeout);
        }),
    };
    const asking = aggregateHealth([new BrokerHealth(mq)], options);
    await vi.advanceTimersByTimeAsync(3_002);
    expect((await asking).detail).toBe('broker: the broker did not answer within 3s');
  });
});

test('the sentences are those of the contract', () => {
  expect(HEALTH_SENTENCES).toEqual(fixture.health);
});

describe('it is refused', () => {
  const ok = answering('a');
  test.for<[string, unknown[], string]>([
    ['without checks', [], 'checks must be a list of health checks, not of type undefined'],
    ['for a check that is not in a list', [ok], 'checks must be a list of health checks, not of type object'],
    [
      'for a connection in the list',
      [[{ name: 'mq', health: () => {} }]],
      'check 1 must have a name and a method check, and is an object; a connection becomes one with new BrokerHealth(mq)',
    ],
    [
      'for a hole in the list',
      [Object.assign(new Array(2), { 0: ok })],
      'check 2 must have a name and a method check, and is undefined',
    ],
    [
      'for a gap in the list',
      [[ok, undefined]],
      'check 2 must have a name and a method check, and is undefined',
    ],
    [
      'for a check without a name',
      [[{ check: ok.check }]],
      'the name of check 1 must be text that is not empty, not undefined',
    ],
    [
      'for an empty name',
      [[ok, answering('')]],
      'the name of check 2 must be text that is not empty, not ""',
    ],
    ['for a name of blanks', [[answering(' \n')]], 'must be text that is not empty'],
    ['for a name that is no text', [[{ name: 7, check: ok.check }]], 'not 7'],
    ['for two of one name', [[ok, answering('b'), answering('a')]], 'two are called "a"'],
    ['for no time', [[ok], { timeout: 0 }], 'timeout must be at least 1ms, not 0'],
    ['for a negative time', [[ok], { timeout: -5 }], 'timeout must be at least 1ms, not -5'],
    ['for a time that is no number', [[ok], { timeout: Number.NaN }], 'not NaN'],
    ['for a time without an end', [[ok], { timeout: Number.POSITIVE_INFINITY }], 'not Infinity'],
    ['for an option that nobody reads', [[ok], { deadline: 5 }], 'has no option "deadline"'],
    ['for a check where the options should be', [[ok], answering('b')], 'has no option'],
  ])('%s', async ([, given, words]) => {
    const ask = (aggregateHealth as (...all: unknown[]) => Promise<unknown>)(...given);
    await expect(ask).rejects.toThrow(ConfigurationError);
    await expect(ask).rejects.toThrow(words);
  });

  test('before any check is asked', async () => {
    const check = holding('a');
    await expect(aggregateHealth([check, check])).rejects.toThrow('two are called "a"');
    expect(check.asked()).toBe(0);
  });
});
