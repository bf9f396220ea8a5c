// node scripts/with-tools.mjs COMMAND [ARGUMENTS]: sets the workspace up, then runs a command with its tools on the path.
import { run } from './command.mjs';
import { setUpQuickly } from './tools.mjs';

const [program, ...args] = process.argv.slice(2);
if (program === undefined) throw new Error('Usage: node scripts/with-tools.mjs COMMAND [ARGUMENTS]');
setUpQuickly();
process.exitCode = (await run(program, args, { stream: true })).code;
