import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './tools.mjs';

/**
 * @typedef {object} Manifest the parts of a package.json that the checks read
 * @property {string} name
 * @property {string} [version]
 * @property {boolean} [private]
 * @property {string} [license]
 * @property {string} [type]
 * @property {boolean} [sideEffects]
 * @property {{ node?: string }} [engines]
 * @property {readonly string[]} [files]
 * @property {Record<string, unknown>} [exports]
 * @property {{ access?: string, provenance?: boolean, exports?: unknown }} [publishConfig]
 * @property {Record<string, string>} [scripts]
 * @property {Record<string, string>} [dependencies]
 * @property {Record<string, string>} [devDependencies]
 * @property {Record<string, string>} [optionalDependencies]
 * @property {Record<string, string>} [peerDependencies]
 * @property {Record<string, { optional?: boolean }>} [peerDependenciesMeta]
 */

/** @typedef {{ folder: string, manifest: Manifest }} Member a package of the workspace, its folder from the root */

/** @param {string} folder */
const read = (folder) =>
  /** @type {Manifest} */ (JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')));

/**
 * Every package of the workspace, as pnpm-workspace.yaml lists them.
 * @returns {Member[]}
 */
export function readWorkspace() {
  const nested = ['packages', 'examples'].flatMap((parent) =>
    existsSync(join(root, parent)) ? readdirSync(join(root, parent)).map((name) => `${parent}/${name}`) : [],
  );
  return [...nested, 'contract-fixtures', 'fault-node', 'prometheus-server', 'terminal', 'bench', 'docs']
    .filter((folder) => existsSync(join(root, folder, 'package.json')))
    .map((folder) => ({ folder, manifest: read(folder) }));
}

/** The package.json of the root. */
export const rootManifest = read('.');

const ignored = new Set(['node_modules', 'dist', 'coverage', '.turbo']);

/**
 * The TypeScript and JavaScript files below a folder, from the root, with forward slashes.
 * @param {string} folder
 * @returns {string[]}
 */
export function sourceFiles(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return ignored.has(entry.name) ? [] : sourceFiles(path);
    return /\.[cm]?[jt]s$/.test(entry.name) ? [path] : [];
  });
}
