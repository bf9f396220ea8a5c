// node scripts/program.mjs FOLDER[:NAME] [ARGUMENTS]: sets the workspace up, builds a folder and what it depends on, and
// runs the file that `main` of its package.json names, or dist/NAME.js. Its exit code is the program's.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './command.mjs';
import { programVariables } from './services.mjs';
import { announced, root, setUpQuickly } from './tools.mjs';

const [target, ...args] = process.argv.slice(2);
if (target === undefined) throw new Error('Usage: node scripts/program.mjs FOLDER[:NAME] [ARGUMENTS]');
const [folder = '', name] = target.split(':');
const main = name === undefined ? mainOf(folder) : join('dist', `${name}.js`);

setUpQuickly();
const build = ['run', 'build', `--filter=./${folder}`, '--output-logs=errors-only'];
const built = await announced('Building', () => run('turbo', build));
if (built.code !== 0) {
  console.error(built.output);
  process.exit(built.code);
}
// npm starts scripts in the root; a FILE argument is meant from where the user stands.
const cwd = process.env['INIT_CWD'] ?? process.cwd();
const env = programVariables();
process.exitCode = (
  await run(process.execPath, [join(root, folder, main), ...args], { cwd, env, stream: true })
).code;

/** @param {string} of */
function mainOf(of) {
  return JSON.parse(readFileSync(join(root, of, 'package.json'), 'utf8')).main;
}
