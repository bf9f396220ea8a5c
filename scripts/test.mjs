// npm test [-- --soak DURATION]: sets the workspace up and runs every check, with a soak of that length where one is asked for. A check is counted as one; the tests count each for itself.
// The last line of standard output is "N passed, N failed, N skipped"; where something failed, the line before it says what.
// It ends with 1 when anything failed or no test ran.
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './command.mjs';
import { readReport } from './report.mjs';
import { findPrograms, programVariables, rabbitmqServer } from './services.mjs';
import { root, setUp } from './tools.mjs';

const node = process.execPath;
const reportFile = join(root, 'test-report.json');
const turbo = (/** @type {string} */ task) => [
  'turbo',
  'run',
  task,
  '--output-logs=errors-only',
  '--continue',
];

/**
 * @typedef {object} Check
 * @property {string} name
 * @property {readonly (readonly string[])[]} commands one after the other; each must end with 0
 * @property {string} [after] the check that must have passed, else this one is skipped
 * @property {boolean} [ownBroker] it starts a broker of its own, and is skipped where none is installed; its output is
 *   shown as it comes
 */

/** @type {readonly Check[]} */
const before = [
  { name: 'lint', commands: [['biome', 'check', '--error-on-warnings', '.']] },
  { name: 'imports', commands: [[node, 'scripts/check-imports.mjs']] },
  { name: 'workspace', commands: [[node, 'scripts/check-workspace.mjs']] },
  // All members in one program: each is checked once, and not again in every member that imports it.
  {
    name: 'types',
    commands: [
      ['tsc', '--noEmit', '-p', 'tsconfig.check.json'],
      ['tsc', '--noEmit', '-p', 'scripts'],
    ],
  },
  { name: 'build', commands: [turbo('build')] },
];

/** @type {readonly Check[]} */
const after = [
  { name: 'packages', commands: [turbo('check:package')], after: 'build' },
  { name: 'unused', commands: [['knip']] },
];

const [flag, soakDuration] = process.argv.slice(2);
if (flag !== undefined && (flag !== '--soak' || soakDuration === undefined)) {
  console.error('usage: npm test [-- --soak DURATION]');
  process.exit(2);
}
/** @type {readonly Check[]} */
const soak =
  soakDuration === undefined
    ? []
    : [
        {
          name: 'soak',
          commands: [[node, 'bench/dist/soak.js', soakDuration]],
          after: 'build',
          ownBroker: true,
        },
      ];

const total = { passed: 0, failed: 0, skipped: 0 };
/** @type {Set<string>} */
const passed = new Set();
/** @type {string[]} */
const failedSteps = [];
/** @type {string[]} */
const uncovered = [];

/**
 * @param {string} name
 * @param {() => Promise<{ code: number, output: string }>} work
 */
async function step(name, work) {
  const started = performance.now();
  const { code, output } = await work().catch((error) => ({
    code: 1,
    output: String(error?.message ?? error),
  }));
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${name.padEnd(10)} ${code === 0 ? 'ok' : 'FAILED'}  ${seconds} s`);
  if (code === 0) {
    passed.add(name);
    return true;
  }
  failedSteps.push(name);
  if (output.trim() !== '') console.log(`${output.trimEnd()}\n`);
  return false;
}

/** @param {Check} check */
async function perform(check) {
  const hindrance = hindranceOf(check);
  if (hindrance !== undefined) {
    console.log(`${check.name.padEnd(10)} skipped: ${hindrance}`);
    uncovered.push(`check "${check.name}": ${hindrance}`);
    total.skipped += 1;
    return;
  }
  const options = check.ownBroker === true ? { env: programVariables(), stream: true } : {};
  const ok = await step(check.name, async () => {
    for (const [program = '', ...args] of check.commands) {
      const done = await run(program, args, options);
      if (done.code !== 0) return done;
    }
    return { code: 0, output: '' };
  });
  total[ok ? 'passed' : 'failed'] += 1;
}

/**
 * Why a check cannot be performed, or undefined.
 * @param {Check} check
 */
function hindranceOf({ after, ownBroker }) {
  if (after !== undefined && !passed.has(after)) return `${after} failed`;
  const missing = ownBroker === true ? findPrograms([rabbitmqServer]).map(({ name }) => name) : [];
  return missing.length > 0 ? `${missing.join(', ')} is not installed` : undefined;
}

async function tests() {
  rmSync(reportFile, { force: true });
  const args = ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`];
  await step('tests', async () => {
    const { code } = await run('vitest', args, { stream: true });
    const report = existsSync(reportFile) ? readReport(reportFile, root) : undefined;
    total.passed += report?.passed ?? 0;
    total.skipped += report?.skipped.length ?? 0;
    // An error outside any test (a failing set-up, an unhandled rejection) is in the exit code alone.
    const failed = report?.failed ?? 0;
    total.failed += code !== 0 && failed === 0 ? 1 : failed;
    uncovered.push(...(report?.skipped ?? []));
    if (report !== undefined && report.passed + report.failed > 0) return { code, output: '' };
    if (code === 0) total.failed += 1;
    return { code: code || 1, output: 'No test ran.' };
  });
}

// Whoever interrupts wants no further step; the children have had the same signal from the terminal.
process.once('SIGINT', () => process.exit(130));

const ready = await step('set-up', async () => {
  setUp();
  return { code: 0, output: '' };
});
if (ready) {
  for (const check of before) await perform(check);
  await tests();
  for (const check of [...after, ...soak]) await perform(check);
} else total.failed += 1;

if (uncovered.length > 0)
  console.log(`\nNot covered by this run:\n${uncovered.map((line) => `  ${line}`).join('\n')}`);
if (failedSteps.length > 0) console.log(`failed: ${failedSteps.join(', ')}`);
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0;
