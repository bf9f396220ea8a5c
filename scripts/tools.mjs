// Sets the workspace up on a machine that has only Node and npm: pnpm of the pinned version in .tools, then the
// dependencies of the lockfile. Imports nothing from npm, since it runs before anything is installed.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of the workspace. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const pnpmVersion = /^pnpm@(\d+\.\d+\.\d+)$/.exec(manifest.packageManager)?.[1];
const pnpmHome = join(root, '.tools', 'node_modules', 'pnpm');
const pnpmProgram = join(pnpmHome, 'bin', 'pnpm.cjs');

/**
 * The environment of every child: the pinned tools and the Node that runs this come first on the path, no telemetry.
 * @type {NodeJS.ProcessEnv}
 */
export const environment = {
  ...process.env,
  PATH: [
    join(root, '.tools', 'node_modules', '.bin'),
    join(root, 'node_modules', '.bin'),
    dirname(process.execPath),
    process.env['PATH'] ?? '',
  ].join(delimiter),
  TURBO_TELEMETRY_DISABLED: '1',
  DO_NOT_TRACK: '1',
  // Colour codes would get into captured output and into the last line.
  ...(process.stdout.isTTY ? {} : { NO_COLOR: '1', FORCE_COLOR: undefined }),
};

/** Refuses a Node below the floor in `engines`, in one sentence instead of a syntax error further down. */
export function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [, floorMajor = 0, floorMinor = 0] = (/^>=(\d+)\.(\d+)/.exec(manifest.engines.node) ?? []).map(
    Number,
  );
  if (major > floorMajor || (major === floorMajor && minor >= floorMinor)) return;
  throw new Error(`Node ${process.versions.node} is too old: this workspace needs ${manifest.engines.node}.`);
}

/** Puts the pinned pnpm into .tools, unless it is there. Needs the registry only when it is not. */
function installPnpm() {
  if (pnpmVersion === undefined) throw new Error(`package.json: packageManager must be pnpm@x.y.z.`);
  if (installedVersion() === pnpmVersion) return;
  // npm looks for a package.json upwards; this one stops it from taking the workspace for the target.
  mkdirSync(dirname(dirname(pnpmHome)), { recursive: true });
  writeFileSync(join(root, '.tools', 'package.json'), '{ "private": true }\n');
  const npm = process.env['npm_execpath'] ?? '';
  const quiet = ['--no-audit', '--no-fund', '--no-package-lock', '--no-save', '--loglevel=error'];
  const args = ['install', '--prefix', join(root, '.tools'), ...quiet, `pnpm@${pnpmVersion}`];
  if (npm.endsWith('npm-cli.js')) runQuietly('npm', process.execPath, [npm, ...args]);
  else runQuietly('npm', process.platform === 'win32' ? 'npm.cmd' : 'npm', args);
}

function installedVersion() {
  const file = join(pnpmHome, 'package.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).version : undefined;
}

/**
 * Sets up for a command that a person waits for: asks pnpm only when the lockfile changed, ends the process on failure.
 * Says on standard error what it waits for, if it waits.
 */
export function setUpQuickly() {
  try {
    checkNode();
    if (installedVersion() === pnpmVersion && isCurrent()) return;
    const started = performance.now();
    process.stderr.write('Setting up (once): dependencies …');
    try {
      setUp({ onlyIfChanged: true });
    } finally {
      process.stderr.write(` ${seconds(started)}\n`);
    }
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  }
}

/** Work that takes less than this, in milliseconds, is not worth a line. */
const unannounced = 1_500;

/**
 * Does something that usually is done already. If it takes a while, a line on standard error says what is waited for, and
 * at its end how long it took.
 * @template T
 * @param {string} what
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function announced(what, work) {
  const started = performance.now();
  let said = false;
  const timer = setTimeout(() => {
    said = true;
    process.stderr.write(`${what} …`);
  }, unannounced);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
    if (said) process.stderr.write(` ${seconds(started)}\n`);
  }
}

/** @param {number} started */
function seconds(started) {
  return `${Math.max(1, Math.round((performance.now() - started) / 1000))} s`;
}

/**
 * Checks Node, and installs the pinned pnpm and the dependencies of the lockfile.
 * @param {{ onlyIfChanged?: boolean }} [options] `onlyIfChanged` trusts node_modules while it is newer than the lockfile,
 *   which saves the second of asking pnpm.
 */
export function setUp(options = {}) {
  checkNode();
  installPnpm();
  if (options.onlyIfChanged === true && isCurrent()) return;
  const args = ['install', '--frozen-lockfile', '--prefer-offline', '--config.confirmModulesPurge=false'];
  runQuietly('pnpm install', process.execPath, [pnpmProgram, ...args]);
  writeFileSync(stamp(), '');
}

const stamp = () => join(root, 'node_modules', '.acemq-installed');

function isCurrent() {
  if (!existsSync(stamp())) return false;
  const installed = statSync(stamp()).mtimeMs;
  const files = ['pnpm-lock.yaml', 'package.json', 'pnpm-workspace.yaml'];
  return files.every((file) => statSync(join(root, file)).mtimeMs <= installed);
}

/**
 * Runs a set-up command without standard input, so that nothing can ask; its output shows only when it fails.
 * @param {string} name
 * @param {string} program
 * @param {string[]} args
 */
function runQuietly(name, program, args) {
  const done = spawnSync(program, args, {
    cwd: root,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
    shell: program.endsWith('.cmd'),
    maxBuffer: 64 * 1024 * 1024,
  });
  if (done.status === 0) return;
  const output = `${done.stdout ?? ''}${done.stderr ?? ''}`.trim();
  throw new Error(`${name} failed.\n${output || done.error?.message || `It ended with ${done.status}.`}`);
}
