// node scripts/check-workspace.mjs: what must be true of the package.json files, the lockfile and the changesets together.
// Prints each fault and ends with 1.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { root } from './tools.mjs';
import { readWorkspace, rootManifest, sourceFiles } from './workspace.mjs';

/** @typedef {import('./workspace.mjs').Member} Member */

/** The condition by which the workspace reads sources. It must not be published: a user has no sources. */
const sourceCondition = '@acemq/source';
const scripts = {
  build: 'tsup',
  typecheck: 'tsc --noEmit',
  test: 'vitest run',
  'check:package': 'publint --strict && attw --pack .',
};

/**
 * What is wrong with a published package.
 * @param {Member} member
 * @returns {string[]}
 */
export function packageFaults({ folder, manifest }) {
  const name = folder.slice('packages/'.length);
  /** @type {[boolean, string][]} */
  const rules = [
    [manifest.name === `@acemq/${name}`, `name must be @acemq/${name}`],
    [manifest.private !== true, 'a package is published: no "private"'],
    [manifest.license === 'MIT', 'license must be MIT'],
    [manifest.type === 'module', 'type must be module'],
    [manifest.sideEffects === false, 'sideEffects must be false'],
    [
      manifest.engines?.node === rootManifest.engines?.node,
      `engines.node must be ${rootManifest.engines?.node}`,
    ],
    [manifest.files?.includes('dist') === true, 'files must include dist'],
    [manifest.publishConfig?.access === 'public', 'publishConfig.access must be public'],
    [
      isDeepStrictEqual(manifest.publishConfig?.exports, published(manifest.exports)),
      `publishConfig.exports must be exports without ${sourceCondition}`,
    ],
    ...Object.entries(scripts).map(
      ([script, command]) =>
        /** @type {[boolean, string]} */ ([
          manifest.scripts?.[script] === command,
          `script ${script} must be "${command}"`,
        ]),
    ),
  ];
  return rules.filter(([holds]) => !holds).map(([, fault]) => fault);
}

/**
 * @param {unknown} exports
 * @returns {unknown}
 */
function published(exports) {
  if (typeof exports !== 'object' || exports === null) return exports;
  const kept = Object.entries(exports).filter(([condition]) => condition !== sourceCondition);
  return Object.fromEntries(kept.map(([key, value]) => [key, published(value)]));
}

/**
 * Siblings depend on each other with workspace:^ and a tool has one version in the whole workspace. Peers are ranges.
 * @param {readonly Member[]} members
 * @returns {string[]}
 */
export function versionFaults(members) {
  const faults = [];
  /** @type {Map<string, { version: string, folder: string }>} */
  const seen = new Map();
  for (const { folder, manifest } of members) {
    for (const [module, version] of Object.entries({
      ...manifest.devDependencies,
      ...manifest.dependencies,
    })) {
      if (module.startsWith('@acemq/')) {
        if (version !== 'workspace:^')
          faults.push(`${folder}: ${module} must be workspace:^, not ${version}`);
        continue;
      }
      const first = seen.get(module);
      const bare = version.replace(/^[\^~]/, '');
      if (first === undefined) seen.set(module, { version: bare, folder });
      else if (first.version !== bare) {
        faults.push(`${folder}: ${module} is ${version}, and ${first.version} in ${first.folder}`);
      }
    }
    for (const module of Object.keys(manifest.peerDependencies ?? {})) {
      // What may fail to build is optional, and stands once, at the root.
      const version = manifest.devDependencies?.[module] ?? rootManifest.optionalDependencies?.[module];
      if (version === undefined)
        faults.push(`${folder}: the peer ${module} must be a devDependency too, to be tested`);
    }
  }
  return faults;
}

/**
 * A test that no project runs would pass for ever.
 * @param {readonly Member[]} members
 */
function untestedFolders(members) {
  return members
    .map(({ folder }) => folder)
    .filter((folder) => sourceFiles(folder).some((file) => file.endsWith('.test.ts')))
    .filter((folder) => !existsSync(join(root, folder, 'vitest.config.ts')))
    .map((folder) => `${folder}: has tests and no vitest.config.ts`);
}

function lockfileFaults() {
  const lines = readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8').split('\n');
  const hosts = lines.flatMap((line, index) => (/https?:\/\//.test(line) ? [index + 1] : []));
  return hosts.map((line) => `pnpm-lock.yaml:${line}: names a host`);
}

/**
 * The configuration as changesets itself reads it, and every package that a changeset names.
 * @returns {Promise<string[]>}
 */
async function changesetFaults() {
  // Both are parts of @changesets/cli, and so resolved from there.
  const requireFromCli = createRequire(
    createRequire(import.meta.url).resolve('@changesets/cli/package.json'),
  );
  const { read: readConfig } = requireFromCli('@changesets/config');
  const readChangesets = requireFromCli('@changesets/read').default;
  const faults = [];
  try {
    await readConfig(root);
  } catch (error) {
    faults.push(`.changeset/config.json: ${error instanceof Error ? error.message : error}`);
  }
  const names = readWorkspace().map(({ manifest }) => manifest.name);
  for (const { id, releases } of await readChangesets(root)) {
    for (const { name } of releases) {
      if (!names.includes(name)) faults.push(`.changeset/${id}.md: no package is called ${name}`);
    }
  }
  return faults;
}

async function main() {
  const members = readWorkspace();
  const faults = [];
  for (const member of members) {
    if (!existsSync(join(root, member.folder, 'README.md')))
      faults.push(`${member.folder}: has no README.md`);
    const isPackage = member.folder.startsWith('packages/');
    if (isPackage)
      faults.push(...packageFaults(member).map((fault) => `${member.folder}/package.json: ${fault}`));
    else if (member.manifest.private !== true) faults.push(`${member.folder}/package.json: must be private`);
  }
  faults.push(...versionFaults([{ folder: '.', manifest: rootManifest }, ...members]));
  faults.push(...untestedFolders(members), ...lockfileFaults(), ...(await changesetFaults()));
  for (const fault of faults) console.error(fault);
  process.exitCode = faults.length > 0 ? 1 : 0;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main();
