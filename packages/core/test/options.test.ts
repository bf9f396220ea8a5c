import { describe, expect, it } from 'vitest';
import { checkOptions } from '../src/index.ts';
import { expectRefusal } from './refusal.ts';

describe('checkOptions', () => {
  it('takes options that are read, and none', () => {
    expect(() => checkOptions({ prefetch: 1 }, ['prefetch', 'tag'], 'consume')).not.toThrow();
    expect(() => checkOptions(undefined, ['prefetch'], 'consume')).not.toThrow();
  });

  it('names what is unknown and what there is, and never a value', () => {
    const work = (): void =>
      checkOptions({ passwrd: 'hunter2', zeal: 1, name: 'n' }, ['password', 'name'], 'connect');
    expectRefusal(work, 'ACEMQ_CONFIGURATION', 'connect', '"passwrd", "zeal"', 'name, password');
    expect(work).not.toThrow(/hunter2/);
  });

  it.each([null, 'text', 5, []])('refuses %j, which is no object', (given) => {
    expectRefusal(
      () => checkOptions(given, [], 'connect'),
      'ACEMQ_CONFIGURATION',
      'connect',
      'must be an object',
    );
  });
});
