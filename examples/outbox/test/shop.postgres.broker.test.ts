import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'vite';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** The packages find their migrations by where their sources are. */
const whereItWas = {
  name: 'where-it-was',
  transform: (code: string, id: string): string =>
    code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href)),
};

// Within the example, so that the programs find pg.
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(fileURLToPath(new URL('../node_modules/.shop-', import.meta.url)));
  const conditions = ['@acemq/source', 'node'];
  await build({
    configFile: false,
    logLevel: 'error',
    plugins: [whereItWas],
    resolve: { conditions },
    ssr: { noExternal: true, external: ['pg', 'better-sqlite3'], resolve: { conditions } },
    build: {
      ssr: fileURLToPath(new URL('../src/main.ts', import.meta.url)),
      outDir: folder,
      rollupOptions: { output: { entryFileNames: 'main.mjs' } },
    },
  });
}, 60_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

async function ran(
  args: readonly string[],
  environment: Record<string, string> = {},
): Promise<{ code: number; text: string }> {
  const child = spawn(process.execPath, [`${folder}/main.mjs`, ...args], {
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
