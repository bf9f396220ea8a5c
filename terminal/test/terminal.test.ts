import { ConfigurationError } from '@acemq/core';
import { describe, expect, it } from 'vitest';
import { carryOut, flags, flagsAndNames, plainText, type Surroundings } from '../src/index.ts';

function surroundings(): Surroundings & { readonly out: () => string; readonly err: () => string } {
  let [out, err] = ['', ''];
  return {
    env: {},
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (err += text) },
    once: () => undefined,
    out: () => out,
    err: () => err,
  };
}

const PROGRAM = {
  name: 'tool',
  help: 'the help of tool\n',
  commands: new Map([
    ['list', { help: 'the help of list\n', run: () => 0 }],
    ['dlq show', { help: 'the help of show\n', run: (args: readonly string[]) => args.length }],
    [
      'dlq purge',
      {
        help: '',
        run: () => {
          throw new ConfigurationError('--limit is missing');
        },
      },
    ],
  ]),
};

describe('a program', () => {
  it.each([
    [[], 2, '', 'the help of tool\n'],
    [['--help'], 0, 'the help of tool\n', ''],
    [['list'], 0, '', ''],
    [['list', '-h'], 0, 'the help of list\n', ''],
    [['dlq', 'show', 'a', 'b'], 2, '', ''],
    [['dlq', 'show', '--help'], 0, 'the help of show\n', ''],
    [['dlq', '--help'], 0, 'the help of tool\n', ''],
    [['dlq', 'purge'], 2, '', 'tool dlq purge: --limit is missing\n'],
    [['lst'], 2, '', 'tool: there is no command "lst"; did you mean list?\n\nthe help of tool\n'],
    [['dql', 'show'], 2, '', 'tool: there is no command "dql"; did you mean dlq?\n\nthe help of tool\n'],
    [
      ['dlq', 'shw'],
      2,
      '',
      'tool: there is no command "dlq shw"; did you mean dlq show?\n\nthe help of tool\n',
    ],
  ])('given %j ends with %i', async (args, code, out, err) => {
    const around = surroundings();
    expect(await carryOut(PROGRAM, args, around)).toBe(code);
    expect([around.out(), around.err()]).toEqual([out, err]);
  });
});

describe('flags', () => {
  const options = { limit: { type: 'string' }, json: { type: 'boolean' } } as const;

  it('are read, and names between them', () => {
    expect(flagsAndNames(['orders', '--limit', '5', '--json'], options)).toMatchObject({
      values: { limit: '5', json: true },
      positionals: ['orders'],
    });
  });

  it.each([
    [['--limt', '5'], 'there is no --limt; did you mean --limit?'],
    [['orders'], 'every value needs its flag before it'],
    [['--limit', '-5'], '--limit needs a value, and one that begins with a dash is given as --limit=VALUE'],
    [['--limit'], '--limit needs a value'],
  ])('%j are refused', (args, words) => {
    expect(() => flags(args, options)).toThrow(words);
    expect(() => flags(args, options)).toThrow(ConfigurationError);
  });
});

it('a text of a server cannot command the terminal', () => {
  expect(plainText('a\u001b[2Jb\u0007\u202ec\nd')).toBe('a�[2Jb��c�d');
});
