import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { FIXTURE_FILES } from '../src/files.ts';
import { describeFamily } from './family.ts';

const ajv = new Ajv2020({ strict: true, allErrors: true, allowUnionTypes: true });

function readJson(path: string): Record<string, unknown> {
  return JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')) as Record<string, unknown>;
}

function validator(schema: string): ValidateFunction {
  return ajv.compile(readJson(`../schema/${schema}`));
}

describe('the schema', () => {
  describe.each(FIXTURE_FILES)('of $name', ({ name, schema }) => {
    const validate = validator(schema);

    it('takes the committed file', () => {
      validate(readJson(`../${name}`));
      expect(validate.errors).toBeNull();
    });

    it('refuses a file that lacks any of its parts, or has one that it does not know', () => {
      const file = readJson(`../${name}`);
      for (const part of Object.keys(file)) {
        const { [part]: _left, ...rest } = file;
        expect(validate(rest), part).toBe(false);
      }
      expect(validate({ ...file, other: 1 })).toBe(false);
    });
  });

  it.each([
    ['an envelope without its id', ['cases', 0, 'headers', 'x-acemq-id'], undefined],
    ['an attempt of 0', ['cases', 0, 'headers', 'x-acemq-attempt'], 0],
    ['an attempt as text', ['cases', 0, 'headers', 'x-acemq-attempt'], '1'],
    ['a reserved header that there is not', ['cases', 0, 'headers', 'x-acemq-invented'], 'x'],
    ['an empty optional header', ['cases', 1, 'headers', 'x-acemq-causation'], ''],
  ])('of envelopes refuses %s', (_what, path, value) => {
    const file = readJson('../envelope-fixtures.json');
    set(file, path, value);
    expect(validator('envelope-fixtures.schema.json')(file)).toBe(false);
  });

  it.each([
    ['a rung with a fourth argument', ['rungArguments', 0, 'arguments', 'x-queue-type'], 'classic'],
    ['a rung whose delay has a fraction', ['rungArguments', 0, 'arguments', 'x-message-ttl'], 1.5],
    ['a queue of an unknown type', ['topology', 'queues', 0, 'type'], 'lazy'],
    ['something that nobody declares', ['topology', 'bindings', 0, 'declaredBy'], 'nobody'],
  ])('of the contract refuses %s', (_what, path, value) => {
    const file = readJson('../contract-fixtures.json');
    set(file, path, value);
    expect(validator('contract-fixtures.schema.json')(file)).toBe(false);
  });

  it.each([
    ['a replay that keeps what only the broker may say', ['replay', 'cases', 0, 'published', 'x-death'], 'x'],
    ['a replay that counts as text', ['replay', 'cases', 0, 'published', 'acemq-replay-count'], '1'],
    ['a replay at a time in milliseconds', ['replay', 'cases', 0, 'published', 'acemq-replayed-at'], 1],
    ['a hop without an id', ['pipeline', 'declared', 'run', 1, 'x-acemq-id'], undefined],
    ['a request whose address is empty', ['request', 'request', 'headers', 'acemq-reply-to'], ''],
  ])('of patterns refuses %s', (_what, path, value) => {
    const file = readJson('../patterns.json');
    set(file, path, value);
    expect(validator('patterns.schema.json')(file)).toBe(false);
  });
});

describeFamily('contract-fixtures.json', (file) => {
  it('fits the schema of ours', () => {
    const validate = validator('contract-fixtures.schema.json');
    validate(file);
    expect(validate.errors).toBeNull();
  });
});

describeFamily('envelope-fixtures.json', (file) => {
  it('fits the schema of ours', () => {
    const validate = validator('envelope-fixtures.schema.json');
    validate(file);
    expect(validate.errors).toBeNull();
  });
});

/** Changes the value at the end of a path; `undefined` takes it away. */
function set(file: Record<string, unknown>, path: readonly (string | number)[], value: unknown): void {
  let at = file as Record<string | number, unknown>;
  for (const step of path.slice(0, -1)) at = at[step] as Record<string | number, unknown>;
  const last = path.at(-1) ?? '';
  if (value === undefined) delete at[last];
  else at[last] = value;
}
