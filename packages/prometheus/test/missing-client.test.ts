import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const run = promisify(execFile);
/** Named so that its types, which do not check, are not read. */
const BUILDER: string = 'tsup';
const SETTINGS: string = '../tsup.config.ts';
const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Far from any node_modules: what is found from here was put here. */
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'acemq-missing-client-'));
  const { build } = (await import(BUILDER)) as { build(options: object): Promise<void> };
  const settings = (await import(SETTINGS)) as { readonly default: object };
  await build({
    ...settings.default,
    entry: [file('../src/index.ts'), file('../src/prometheus-io.ts')],
    outDir: folder,
    config: false,
    dts: false,
    sourcemap: false,
    silent: true,
    // The siblings are built in, so that nothing has to be installed but a client.
    noExternal: [/^@acemq\//],
    esbuildOptions: (options: { conditions?: string[] }) => {
      options.conditions = ['@acemq/source'];
    },
  });
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
}, 60_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What a program prints that loads a built entry one way or the other. */
async function printed(entry: string, kind: 'import' | 'require', program: string): Promise<string> {
  const load =
    kind === 'import'
      ? `import { PrometheusObserver } from './${entry}.js'; import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);`
      : `const { PrometheusObserver } = require('./${entry}.cjs');`;
  const script = join(folder, `${entry}-program.${kind === 'import' ? 'mjs' : 'cjs'}`);
  writeFileSync(script, `${load}\n${program}`);
  // Package managers put their store on NODE_PATH for what they start.
  const { NODE_PATH: _, ...env } = process.env;
  return (await run(process.execPath, [script], { env })).stdout.trim();
}

const entries = [
  { entry: 'index', client: 'prom-client', other: '@prometheus-io/client' },
  { entry: 'prometheus-io', client: '@prometheus-io/client', other: 'prom-client' },
];
const ways = entries.flatMap((one) => [
  { ...one, kind: 'import' as const },
  { ...one, kind: 'require' as const },
]);

describe('the built package', () => {
  it.each(ways)('says without $client how to install it, by $kind', async ({ entry, client, kind }) => {
    const program =
      'try { new PrometheusObserver() } catch (error) { console.log(error.code, error.message) }';
    expect(await printed(entry, kind, program)).toBe(
      `ACEMQ_CONFIGURATION PrometheusObserver needs ${client}, which is not installed: npm install ${client} (or give the module as the option client)`,
    );
  });

  it.each(ways)('loads $client by $kind, and not $other', async ({ entry, client, other, kind }) => {
    const link = join(folder, 'node_modules', client);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(file(`../node_modules/${client}`), link, 'junction');
    const program = `
      new PrometheusObserver().count('m', 2, {});
      const loaded = Object.keys(require.cache).filter((path) => path.includes(${JSON.stringify(other)}));
      require(${JSON.stringify(client)}).register.metrics().then((body) => console.log(body.includes('m 2'), loaded.length));`;
    try {
      expect(await printed(entry, kind, program)).toBe('true 0');
    } finally {
      rmSync(link);
    }
  });
});
