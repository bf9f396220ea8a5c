import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'vite';

/** A program as one file that Node runs by itself. */
export interface BundledProgram {
  /** Its path. */
  readonly file: string;
  /** Deletes it. */
  remove(): Promise<void>;
}

/** How a program is bundled. */
export interface BundleOptions {
  /** What is left to be found when it runs, such as `pg`. It is found from `within`. */
  readonly external?: readonly string[];
  /** The root of the package whose dependencies it finds. Without it, it finds none, and needs none. */
  readonly within?: URL;
  readonly plugins?: readonly Plugin[];
}

/** Makes one file of a program in TypeScript and of the sources of the workspace, to be run as a process of its own. */
export async function bundled(
  program: URL,
  { external = [], within, plugins = [] }: BundleOptions = {},
): Promise<BundledProgram> {
  const root = within === undefined ? tmpdir() : fileURLToPath(new URL('node_modules/', within));
  const folder = await mkdtemp(join(root, '.acemq-program-'));
  const conditions = ['@acemq/source', 'node'];
  await build({
    configFile: false,
    logLevel: 'error',
    plugins: [...plugins],
    resolve: { conditions },
    ssr: { noExternal: true, external: [...external], resolve: { conditions } },
    build: {
      ssr: fileURLToPath(program),
      outDir: folder,
      rollupOptions: { output: { entryFileNames: 'program.mjs' } },
    },
  });
  return { file: join(folder, 'program.mjs'), remove: () => rm(folder, { recursive: true, force: true }) };
}
