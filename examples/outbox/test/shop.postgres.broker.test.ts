import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import { type BundledProgram, bundled } from '@acemq/fault-node/bundled-program';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** The packages find their migrations by where their sources are. */
const whereItWas = {
  name: 'where-it-was',
  transform: (code: string, id: string): string =>
    code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href)),
};

let program: BundledProgram;

beforeAll(async () => {
  program = await bundled(new URL('../src/main.ts', import.meta.url), {
    external: ['pg', 'better-sqlite3'],
    within: new URL('../', import.meta.url),
    plugins: [whereItWas],
  });
}, 60_000);

afterAll(() => program?.remove());

async function ran(
  args: readonly string[],
  environment: Record<string, string> = {},
): Promise<{ code: number; text: string }> {
  const child = spawn(process.execPath, [program.file, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (bytes: Buffer) => (text += bytes.toString()));
  const [code] = (await once(child, 'exit')) as [number];
  return { code, text };
}

test.each([
  ['PostgreSQL', {}],
  // Nobody listens on this port.
  ['a SQLite file', { POSTGRES_URL: 'postgres://postgres@127.0.0.1:1/none' }],
])(
  'each order has its effect once, kept in %s, though every program is killed five times',
  async (where, environment) => {
    const { code, text } = await ran(['300'], environment);
    expect(text).toContain(`300 orders, kept in ${where}`);
    expect(text).toMatch(/killed +service 5 times, relay 5 times, consumer 5 times/);
    expect(text).toMatch(/orders +300\nevents +300\neffects +300\nrepeats +\d+\n$/);
    expect(code).toBe(0);
  },
  120_000,
);

test('says how it is used', async () => {
  expect(await ran(['--help'])).toMatchObject({ code: 0, text: expect.stringContaining('Usage: outbox') });
  expect(await ran(['many'])).toMatchObject({ code: 2, text: expect.stringContaining('Usage: outbox') });
});
