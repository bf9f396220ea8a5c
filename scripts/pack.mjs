// node scripts/pack.mjs [FOLDER]: builds every public package, packs each into FOLDER as the registry would get it, and prints
// how to install them. FOLDER is ./packed by default.
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { run } from './command.mjs';
import { announced, root } from './tools.mjs';
import { readWorkspace } from './workspace.mjs';

/**
 * Packs every public package, which must have been built.
 * @param {string} folder made if it is not there; a tarball of the same name is written over
 * @returns {Promise<string[]>} the tarballs
 * @throws {Error} when a package cannot be packed, with what pnpm said
 */
export async function packInto(folder) {
  mkdirSync(folder, { recursive: true });
  const files = [];
  for (const { folder: member, manifest } of readWorkspace()) {
    if (manifest.private === true) continue;
    const file = join(folder, `${manifest.name.replace('@', '').replace('/', '-')}-${manifest.version}.tgz`);
    const done = await run('pnpm', ['pack', '--out', file], { cwd: join(root, member) });
    if (done.code !== 0) throw new Error(`${manifest.name} cannot be packed.\n${done.output.trim()}`);
    files.push(file);
  }
  return files;
}

async function main() {
  const args = process.argv.slice(2);
  if (args.length > 1 || args[0]?.startsWith('-')) {
    console.error('Usage: npm run pack [-- FOLDER]');
    process.exitCode = 2;
    return;
  }
  // npm starts scripts in the root; a FOLDER is meant from where the user stands.
  const [given] = args;
  const folder =
    given === undefined ? join(root, 'packed') : resolve(process.env['INIT_CWD'] ?? process.cwd(), given);
  const build = ['run', 'build', '--filter=./packages/*', '--output-logs=errors-only'];
  const built = await announced('Building', () => run('turbo', build));
  if (built.code !== 0) {
    console.error(built.output);
    process.exitCode = built.code;
    return;
  }
  const files = await packInto(folder);
  console.log(`${files.length} packages are in ${folder}. In the folder of your program:\n`);
  console.log(`npm install ${files.map(quoted).join(' ')}`);
}

/** @param {string} file */
function quoted(file) {
  return /^[\w./:\\-]+$/.test(file) ? file : `"${file}"`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main();
