import fc from 'fast-check';

const known = [
  'id',
  'type',
  'version',
  'correlation',
  'causation',
  'attempt',
  'first-seen',
  'origin',
  'error',
  'claim',
  'route',
  'route-position',
  'route-id',
  'of-the-future',
].map((name) => `x-acemq-${name}`);

const names = fc.oneof(
  fc.constantFrom(...known),
  fc.constantFrom(
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'x-death',
    'CC',
    '!',
    '',
    'x-acemq-',
  ),
  fc.string({ maxLength: 20 }),
);

const scalars = fc.oneof(
  fc.string(),
  fc.constantFrom('2', ' 2 ', '2.0', '-1', '0', '9'.repeat(400), 'a,b', ',,', ' '),
  fc.double(),
  fc.integer(),
  fc.maxSafeInteger(),
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, -0, 2 ** 53, Number.MAX_VALUE, -(2 ** 63)),
  fc.bigInt(),
  fc.boolean(),
  fc.constantFrom(null, undefined),
  fc.uint8Array({ maxLength: 40 }),
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
  fc.date({ noInvalidDate: false }),
  fc.nat().map((value) => ({ '!': 'timestamp', value })),
  fc.constantFrom(Symbol('s'), () => 1, new Map([['x-acemq-id', 'm']])),
);

/** A table as amqplib decodes it: by assignment, so that a header named `__proto__` may set the prototype. */
function assigned(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  const table: Record<string, unknown> = {};
  for (const [name, value] of entries) table[name] = value;
  return table;
}

/** The same, without a prototype. */
function bare(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  return Object.assign(Object.create(null) as Record<string, unknown>, Object.fromEntries(entries));
}

const { values } = fc.letrec<{ values: unknown; table: unknown }>((tie) => ({
  values: fc.oneof({ maxDepth: 3 }, scalars, fc.array(tie('values'), { maxLength: 3 }), tie('table')),
  table: fc.array(fc.tuple(names, tie('values')), { maxLength: 4 }).map(assigned),
}));

/** Headers as anybody may have sent them, in the objects that decoders make. */
export const hostileTables: fc.Arbitrary<Record<string, unknown>> = fc
  .tuple(
    fc.array(fc.tuple(names, values), { maxLength: 16 }),
    fc.constantFrom(assigned, bare, (entries: readonly (readonly [string, unknown])[]) =>
      Object.fromEntries(entries),
    ),
  )
  .map(([entries, made]) => made(entries));

/** Names that an application may give its headers. */
export const applicationNames: fc.Arbitrary<string> = fc
  .oneof(
    fc.string({ maxLength: 20 }),
    fc.constantFrom('__proto__', 'constructor', 'x-tenant', 'acemq-replay-count', '7'),
  )
  .filter((name) => !name.startsWith('x-acemq-'));
