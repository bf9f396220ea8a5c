// node scripts/program.mjs FOLDER [ARGUMENTS]: sets the workspace up, builds a folder and what it depends on, and runs the
// file that `main` of its package.json names. Its exit code is the program's.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './command.mjs';
import { root, setUpQuickly } from './tools.mjs';

const [folder, ...args] = process.argv.slice(2);
if (folder === undefined) throw new Error('Usage: node scripts/program.mjs FOLDER [ARGUMENTS]');
const { main } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));

setUpQuickly();
const built = await run('turbo', ['run', 'build', `--filter=./${folder}`, '--output-logs=errors-only']);
if (built.code !== 0) {
  console.error(built.output);
  process.exit(built.code);
}
// npm starts scripts in the root; a FILE argument is meant from where the user stands.
const cwd = process.env['INIT_CWD'] ?? process.cwd();
process.exitCode = (
  await run(process.execPath, [join(root, folder, main), ...args], { cwd, stream: true })
).code;
