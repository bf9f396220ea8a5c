import { ConfigurationError, FatalError } from '@acemq/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Stop } from '../../src/pipeline/index.ts';
import { advanceSlip, LONGEST_SLIP, readSlip, writeSlip } from '../../src/pipeline/routing-slip.ts';
import { checkStops } from '../../src/pipeline/stop.ts';

const NOW = Date.UTC(2026, 11, 1, 12, 30, 15, 250);
const AT = '2026-12-01T12:30:15.250Z';

/** Text for JSON, with what breaks a scanner. */
const word = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.constantFrom(
    '__proto__',
    'constructor',
    '"',
    '\\',
    '\\"',
    '{"a":[1]}',
    ']',
    '},{',
    '\u2028',
    'completedAt',
  ),
);

const name = word.filter((text) => text.trim() !== '');

const stop: fc.Arbitrary<Stop> = fc
  .record({ exchange: word, routingKey: name, name: fc.option(name, { nil: undefined }) })
  .map(({ name: given, ...rest }) => (given === undefined ? rest : { ...rest, name: given }));

/** What another library may have put there: also numbers that JavaScript cannot hold. */
const foreign = fc.oneof(
  fc.json({ maxDepth: 3, stringUnit: 'grapheme' }),
  fc.bigInt({ min: 2n ** 60n, max: 2n ** 80n }).map(String),
  fc.constantFrom('1.0', '1e400', '0.10', '-0', '{"__proto__":{"steps":[]}}'),
);

const space = fc.constantFrom('', ' ', '\n', '\t', ' \r\n ');

/** A JSON object with these members, in any order, with any white space, and with others among them. */
function objectWith(
  own: readonly (readonly [string, string])[],
  names: readonly string[],
): fc.Arbitrary<string> {
  const others = fc.uniqueArray(fc.tuple(word, foreign), {
    maxLength: 3,
    selector: ([key]) => key,
  });
  return others.chain((more) => {
    const members = [...own, ...more.filter(([key]) => !names.includes(key))];
    return fc
      .tuple(
        fc.shuffledSubarray(members, { minLength: members.length }),
        fc.array(space, { minLength: 4, maxLength: 4 }),
      )
      .map(([all, [a = '', b = '', c = '', d = '']]) => {
        const written = all.map(([key, value]) => `${a}${JSON.stringify(key)}${b}:${c}${value}${d}`);
        return `${d}{${written.join(',')}${c}}${a}`;
      });
  });
}

const STOP_FIELDS = ['exchange', 'routingKey', 'name', 'completedAt'];

const foreignStop = stop.chain((one) =>
  objectWith(
    Object.entries(one).map(([key, value]) => [key, JSON.stringify(value)] as const),
    STOP_FIELDS,
  ),
);

const list = (items: readonly string[]): string => `[${items.join(' ,')}]`;

const foreignSlip = fc
  .tuple(fc.array(foreignStop, { minLength: 1, maxLength: 6 }), fc.array(foreignStop, { maxLength: 4 }))
  .chain(([steps, done]) =>
    objectWith(
      [
        ['steps', list(steps)],
        ['done', list(done)],
      ],
      ['steps', 'done'],
    ).map((text) => ({ text, steps, done })),
  );

describe('a slip that this library writes', () => {
  test('says the stops to go, and none that are done', () => {
    const text = writeSlip(
      checkStops([
        { exchange: 'orders', routingKey: 'check', name: 'first' },
        { exchange: '', routingKey: 'q' },
      ]),
    );
    expect(text).toBe(
      '{"steps":[{"exchange":"orders","routingKey":"check","name":"first"},{"exchange":"","routingKey":"q"}],"done":[]}',
    );
  });

  test('goes from stop to stop, and writes down when each was done', () => {
    const first = readSlip(
      writeSlip([
        { exchange: 'a', routingKey: 'b' },
        { exchange: 'c', routingKey: 'd', name: 'e' },
      ]),
    );
    const second = readSlip(advanceSlip(first, NOW));
    expect(second.text).toBe(
      `{"steps":[{"exchange":"c","routingKey":"d","name":"e"}],"done":[{"exchange":"a","routingKey":"b","completedAt":"${AT}"}]}`,
    );
    expect(readSlip(advanceSlip(second, NOW)).done.map(({ routingKey }) => routingKey)).toEqual(['b', 'd']);
  });

  test('comes back as the stops that it was made of, with all of them done in their order, for 1 to 100 stops', () => {
    fc.assert(
      fc.property(fc.array(stop, { minLength: 1, maxLength: 100 }), (stops) => {
        let slip = readSlip(writeSlip(stops));
        expect(slip).toMatchObject({ steps: stops, done: [] });
        for (let hop = 1; hop <= stops.length; hop += 1) {
          slip = readSlip(advanceSlip(slip, NOW));
          expect(slip.steps).toEqual(stops.slice(hop));
          expect(slip.done).toEqual(stops.slice(0, hop).map((one) => ({ ...one, completedAt: AT })));
        }
      }),
      { numRuns: 40 },
    );
  });
});

describe('a slip that another library wrote', () => {
  test('keeps what this one does not know, letter by letter, whatever its white space and its order', () => {
    fc.assert(
      fc.property(foreignSlip, ({ text, steps, done }) => {
        let slip = readSlip(text);
        const before = JSON.parse(text) as Record<string, unknown>;
        for (let hop = 1; hop <= steps.length; hop += 1) {
          slip = readSlip(advanceSlip(slip, NOW));
          // What was not touched stands there as it was written.
          for (const one of [...steps.slice(hop), ...done]) expect(slip.text).toContain(one.trim());
          expect(slip.steps).toHaveLength(steps.length - hop);
          expect(slip.done).toHaveLength(done.length + hop);
        }
        const after = JSON.parse(slip.text) as Record<string, unknown>;
        expect(Object.keys(after).sort()).toEqual(Object.keys(before).sort());
        const moved = (after['done'] as Record<string, unknown>[]).slice(done.length);
        expect(moved).toEqual(
          (before['steps'] as Record<string, unknown>[]).map((one) => ({ ...one, completedAt: AT })),
        );
        expect({ ...after, steps: 0, done: 0 }).toEqual({ ...before, steps: 0, done: 0 });
      }),
      { numRuns: 300 },
    );
  });

  test('keeps a number that JavaScript cannot hold, in the slip and in a stop that moves', () => {
    const text = '{"id":12345678901234567890,"steps":[{"exchange":"a","routingKey":"b","weight":1.0}]}';
    expect(advanceSlip(readSlip(text), NOW)).toBe(
      `{"id":12345678901234567890,"steps":[],"done":[{"exchange":"a","routingKey":"b","weight":1.0,"completedAt":"${AT}"}]}`,
    );
  });

  test.each([
    ['as bytes', new TextEncoder().encode('{"steps":[{"exchange":"a","routingKey":"b"}],"done":[]}')],
    [
      'as bytes with a byte order mark',
      new TextEncoder().encode('\uFEFF{"steps":[{"exchange":"a","routingKey":"b"}]}'),
    ],
    ['as text with a byte order mark', '\uFEFF{"steps":[{"exchange":"a","routingKey":"b"}]}'],
    ['with null for what is empty', '{"steps":[{"exchange":"a","routingKey":"b","name":null}],"done":null}'],
    ['with a blank name', '{"steps":[{"exchange":"a","routingKey":"b","name":" "}],"done":[]}'],
    [
      'with a member named __proto__',
      '{"__proto__":{"steps":7},"steps":[{"exchange":"a","routingKey":"b","__proto__":{"name":"x"}}]}',
    ],
    [
      'with a member twice, of which the last counts',
      '{"steps":[],"steps":[{"exchange":"a","routingKey":"b"}]}',
    ],
  ])('is read %s', (_, value) => {
    const slip = readSlip(value);
    expect(slip).toMatchObject({ steps: [{ exchange: 'a', routingKey: 'b' }], done: [] });
    expect(slip.steps[0]).not.toHaveProperty('name');
    expect(readSlip(advanceSlip(slip, NOW))).toMatchObject({
      steps: [],
      done: [{ exchange: 'a', routingKey: 'b', completedAt: AT }],
    });
  });

  test('a member named __proto__ goes on as it came', () => {
    const text = '{"steps":[{"exchange":"a","routingKey":"b","__proto__":{"x":1}}],"__proto__":[2]}';
    expect(advanceSlip(readSlip(text), NOW)).toBe(
      `{"steps":[],"__proto__":[2],"done":[{"exchange":"a","routingKey":"b","__proto__":{"x":1},"completedAt":"${AT}"}]}`,
    );
  });

  test.each([
    ['{"steps":[', 'is not JSON'],
    ['', 'is not JSON'],
    ['null', 'must be an object'],
    ['[]', 'must be an object with "steps" and "done", and is a list'],
    ['"steps"', 'must be an object'],
    ['{}', 'has no "steps"; it has nothing'],
    ['{"Steps":[],"done":[]}', 'has no "steps"; it has "Steps", "done"'],
    ['{"steps":"a"}', '"steps" that must be a list, and is "a"'],
    [
      '{"steps":["a"]}',
      'number 1 of "steps", that must be an object with exchange and routingKey, and is "a"',
    ],
    ['{"steps":[{"exchange":"a"}]}', 'its routingKey must be text, and is undefined'],
    ['{"steps":[{"routingKey":"a"}]}', 'its exchange must be text, and is undefined'],
    ['{"steps":[{"exchange":null,"routingKey":"a"}]}', 'its exchange must be text, and is null'],
    ['{"steps":[{"exchange":"","routingKey":""}]}', 'both empty'],
    ['{"steps":[{"exchange":"a","routingKey":"b"},7]}', 'number 2 of "steps", that must be an object'],
    ['{"steps":[],"done":[7]}', 'number 1 of "done", that must be an object'],
    [`{"steps":[{"exchange":"${'a'.repeat(256)}","routingKey":"b"}]}`, 'more than 255 bytes'],
    [new Uint8Array([0xff, 0xfe]), 'its bytes are not UTF-8'],
    [7, 'must be JSON text, and is 7'],
    [{ steps: [] }, 'must be JSON text, and is an object'],
  ])('is a fatal error with the reason where it is %j', (value, reason) => {
    const read = (): unknown => readSlip(value as string);
    expect(read).toThrow(FatalError);
    expect(read).toThrow(reason);
  });

  test('never does anything but be read or be a fatal error, whatever the header is', () => {
    const header = fc.oneof(
      fc.json({ maxDepth: 4 }),
      fc.string({ unit: 'binary' }),
      fc.uint8Array(),
      foreignSlip.map(({ text }) => text.slice(0, -2)),
    );
    fc.assert(
      fc.property(header, (value) => {
        try {
          const slip = readSlip(value);
          if (slip.steps.length > 0) readSlip(advanceSlip(slip, NOW));
        } catch (error) {
          expect(error).toBeInstanceOf(FatalError);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('a slip of 10,000 stops', () => {
  const stops = Array.from({ length: 10_000 }, (_, number) => ({
    exchange: 'orders',
    routingKey: `step-${number}`,
  }));

  test('is refused before anything is sent, with its size and what is allowed', () => {
    expect(() => writeSlip(stops)).toThrow(ConfigurationError);
    expect(() => writeSlip(stops)).toThrow(
      `a routing slip of 10000 stops takes 888911 bytes once they are done; allowed: up to ${LONGEST_SLIP}`,
    );
  });

  test('is a fatal error where it came from elsewhere', () => {
    const text = JSON.stringify({ steps: stops, done: [] });
    expect(() => readSlip(text)).toThrow(FatalError);
    expect(() => readSlip(text)).toThrow(`allowed: up to ${LONGEST_SLIP}`);
  });
});

test('a slip never grows past what it was checked for', () => {
  const stops = Array.from({ length: 100 }, (_, number) => ({
    exchange: 'orders',
    routingKey: `step-${number}`,
  }));
  let slip = readSlip(writeSlip(stops));
  const grown = Buffer.byteLength(slip.text) + 42 * stops.length;
  while (slip.steps.length > 0) slip = readSlip(advanceSlip(slip, NOW));
  expect(Buffer.byteLength(slip.text)).toBeLessThanOrEqual(grown);
});

describe('the stops of a slip are refused', () => {
  test.each([
    [[], 'an empty list'],
    [undefined, 'undefined'],
    ['orders', '"orders"'],
    [['orders'], 'stop 1 of the routing slip'],
    [[undefined], 'stop 1 of the routing slip must be an object'],
    [
      [
        { exchange: 'a', routingKey: 'b' },
        { exchange: 'a', routing_key: 'b' },
      ],
      '"routing_key"',
    ],
    [[{ exchange: 'a' }], 'stop 1 of the routing slip: its routingKey must be text, and is undefined'],
    [[{ exchange: '', routingKey: '' }], 'both empty'],
    [[{ exchange: 'a', routingKey: 'b', name: ' ' }], '" "'],
    [[{ exchange: 'a', routingKey: 'k'.repeat(256) }], '255'],
  ])('where they are %j', (stops, words) => {
    expect(() => checkStops(stops)).toThrow(ConfigurationError);
    expect(() => checkStops(stops)).toThrow(words);
  });
});
