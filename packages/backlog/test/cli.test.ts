import { count, time } from '@acemq/terminal';
import { describe, expect, it } from 'vitest';
import { main } from '../src/cli/main.ts';
import { firstInstalled } from '../src/cli/missing-client.ts';
import { trend } from '../src/cli/trend.ts';
import { alertRules } from '../src/index.ts';
import { surroundings } from './surroundings.ts';

async function run(...args: string[]) {
  const around = surroundings();
  const code = await main(args, around);
  return { code, out: around.out(), err: around.err() };
}

const night = ['--arrivals', '3000', '--over', '10m', '--service-time', '4s', '--threads', '8'];

it('capacity prints the arithmetic of the night', async () => {
  const { code, out } = await run('capacity', ...night, '--acceptable-wait', '150s');
  expect(code).toBe(0);
  expect(out).toBe(`5 jobs a second arrive, and a worker completes 2.
3 workers keep up with it. For a wait of at most 150s, 2 will do.

workers  a second  done after  backlog  last job waits
1               2         25m    1,800             15m
2               4      12m30s      600           2m30s
3               6      10m04s        0              0s
`);
});

it('capacity --json is what the function says', async () => {
  const { out } = await run('capacity', ...night, '--json', '--workers', '4');
  expect(JSON.parse(out)).toMatchObject({ keepUp: 3, rows: [{}, {}, {}, { workers: 4 }] });
});

it('rules prints the rule file', async () => {
  const { code, out } = await run(
    'rules',
    '--kind',
    'a',
    '--kind',
    'b',
    '--label',
    'stream=jobs',
    '--threshold',
    '2m',
  );
  expect(code).toBe(0);
  expect(out).toBe(alertRules({ kinds: ['a', 'b'], labels: { stream: 'jobs' }, threshold: '2m' }));
});

it.for([[], ['watch'], ['capacity'], ['rules']])('--help of %o fits into a terminal', async (command) => {
  const { code, out } = await run(...command, '--help');
  expect(code).toBe(0);
  for (const line of out.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
});

it.for([
  [[], 'acemq-backlog COMMAND --help'],
  [['frob'], 'there is no command "frob"'],
  [['capacity', '--arrivals', 'x'], '--arrivals must be a whole number, not "x"'],
  [['capacity', '--arrivals', '5'], '--over is missing'],
  [['capacity', ...night, '--foo'], 'there is no --foo'],
  [['rules', '--label', 'x'], '--label must be NAME=VALUE, not "x"'],
  [['watch'], 'say which queue'],
  [['watch', '--stream', 's', '--queue', 'q'], 'say which queue'],
  [['watch', '--stream', 's'], '--redis is missing, and REDIS_URL is not set'],
  [
    ['watch', '--table', 'a;b', '--postgres', 'postgres://x'],
    '--table must be a name, or schema.name, not "a;b"',
  ],
] as const)('%o ends with 2 and says why', async ([args, words]) => {
  const { code, err } = await run(...args);
  expect(code).toBe(2);
  expect(err).toContain(words);
});

it('a client that is not installed is named with the command that adds it', async () => {
  const missing = (): Promise<never> =>
    Promise.reject(Object.assign(new Error('no'), { code: 'ERR_MODULE_NOT_FOUND' }));
  await expect(firstInstalled([missing, missing], 'npm install ioredis')).rejects.toThrow(
    'a client is missing; this adds it: npm install ioredis',
  );
  expect(await firstInstalled([missing, async () => 'second'], 'x')).toBe('second');
});

describe('what is printed', () => {
  it.for([
    [0, '0s'],
    [2.44, '2.4s'],
    [9.96, '10s'],
    [59.6, '1m'],
    [150, '2m30s'],
    [7500, '2h05m'],
    [Number.POSITIVE_INFINITY, 'never'],
  ] as const)('%d seconds are %s', ([seconds, text]) => {
    expect(time(seconds)).toBe(text);
  });

  it('numbers have their thousands apart', () => {
    expect([count(12_000), count(2.44), count(0)]).toEqual(['12,000', '2.4', '0']);
  });

  it('a trend goes from 0 to its greatest value, with a gap for what is not known', () => {
    expect(trend([0, 4, 8, null, 2], 8)).toBe('▁▅█ ▃');
    expect(trend([1, 2, 3], 2)).toBe('▆█');
    expect(trend([0, 0], 8)).toBe('▁▁');
  });
});
