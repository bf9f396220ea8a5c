// node scripts/check-imports.mjs: holds every import of the workspace, and every dependency in a package.json, to the rules
// of import-rules.mjs. Prints each that breaks one and ends with 1.
import { readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join, posix } from 'node:path';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';
import { arrows, bundled, fences, mayKnow, purePackages } from './import-rules.mjs';
import { root } from './tools.mjs';
import { readWorkspace, rootManifest, sourceFiles } from './workspace.mjs';

/** @typedef {import('./workspace.mjs').Member} Member */

const scope = '@acemq/';
const builtins = new Set(builtinModules);

/**
 * Every module that a source text names: imports, re-exports, type imports and `import()`.
 * @param {string} text
 * @returns {{ specifier: string, line: number }[]}
 */
export function importsOf(text) {
  return ts.preProcessFile(text, true, true).importedFiles.map(({ fileName, pos }) => ({
    specifier: fileName,
    line: text.slice(0, pos).split('\n').length,
  }));
}

/**
 * What is wrong with one import, or undefined.
 * @param {string} file from the root, with forward slashes
 * @param {string} specifier
 * @param {Member} member the package that the file belongs to
 * @param {readonly Member[]} members
 * @returns {string | undefined}
 */
export function faultOf(file, specifier, member, members) {
  const name = member.folder.split('/')[1] ?? '';
  const isPackage = member.folder.startsWith('packages/');
  const inSource = isPackage && file.startsWith(`${member.folder}/src/`);

  if (specifier.startsWith('.')) {
    const target = posix.join(posix.dirname(file), specifier);
    const inside = target.startsWith(`${member.folder}/`);
    // tsup.config.ts and vitest.config.ts take what the packages share from the root.
    const isConfig = posix.dirname(file) === member.folder && file.endsWith('.config.ts');
    return inside || isConfig ? undefined : 'a relative import may not leave its package';
  }

  const module = moduleOf(specifier);
  if (specifier.startsWith('node:') || builtins.has(module)) {
    if (inSource && purePackages.includes(name)) return `${name} is pure: it may not use a module of Node`;
    return specifier.startsWith('node:') ? undefined : `write node:${specifier}`;
  }

  const fence = fences.find((one) => one.module === module);
  if (fence !== undefined && isPackage && !file.startsWith(fence.folder) && inSource) {
    return `${module} may be imported in ${fence.folder} only`;
  }

  if (module === member.manifest.name) return exportedBy(member, specifier);

  if (module.startsWith(scope)) {
    const sibling = members.find((one) => one.manifest.name === module);
    if (sibling === undefined) return `no package of the workspace is called ${module}`;
    if (inSource && !mayKnow(name).has(module.slice(scope.length))) return `${name} may not know ${module}`;
    return declares(member, module, inSource) ?? exportedBy(sibling, specifier);
  }

  if (inSource && purePackages.includes(name)) return `${name} is pure: it may use nothing from npm`;
  return declares(member, module, inSource);
}

/**
 * What is wrong with the dependencies of one package.
 * @param {Member} member
 * @returns {string[]}
 */
export function dependencyFaults({ folder, manifest }) {
  if (!folder.startsWith('packages/')) return [];
  const name = folder.slice('packages/'.length);
  if (arrows[name] === undefined) return [`import-rules.mjs does not say whom ${name} may know`];
  const known = mayKnow(name);
  const faults = [];
  for (const module of [
    ...Object.keys(manifest.dependencies ?? {}),
    ...Object.keys(manifest.peerDependencies ?? {}),
  ]) {
    const isSibling = module.startsWith(scope);
    if (isSibling && !known.has(module.slice(scope.length)))
      faults.push(`${name} may not depend on ${module}`);
    if (!isSibling && purePackages.includes(name))
      faults.push(`${name} is pure: it may not depend on ${module}`);
  }
  return faults;
}

/**
 * The first circle in the graph of all dependencies, those for development included.
 * @param {readonly Member[]} members
 * @returns {string[] | undefined} the names along it
 */
export function circle(members) {
  const byName = new Map(members.map((member) => [member.manifest.name, member]));
  /** @type {Set<string>} */
  const done = new Set();
  /** @type {(name: string, path: string[]) => string[] | undefined} */
  const visit = (name, path) => {
    if (path.includes(name)) return [...path.slice(path.indexOf(name)), name];
    const member = byName.get(name);
    if (member === undefined || done.has(name)) return undefined;
    const { dependencies, devDependencies, peerDependencies } = member.manifest;
    for (const next of Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies })) {
      const found = visit(next, [...path, name]);
      if (found !== undefined) return found;
    }
    done.add(name);
    return undefined;
  };
  for (const name of byName.keys()) {
    const found = visit(name, []);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** @param {string} specifier */
function moduleOf(specifier) {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

/**
 * @param {Member} member
 * @param {string} module
 * @param {boolean} inSource published code may use only what an installation brings along
 */
function declares({ manifest }, module, inSource) {
  const { dependencies, peerDependencies, devDependencies } = manifest;
  if (module in { ...dependencies, ...peerDependencies }) return undefined;
  const isBundled = bundled.some((name) => module === `${scope}${name}`);
  if (isBundled && module in { ...devDependencies }) return undefined;
  if (!inSource && (module in { ...devDependencies } || module in shared)) return undefined;
  return `${module} is not in the ${inSource ? 'dependencies' : 'dependencies or devDependencies'} of ${manifest.name}`;
}

/** The tools that the root has for all. */
const shared = { ...rootManifest.devDependencies, ...rootManifest.optionalDependencies };

/**
 * @param {Member} member
 * @param {string} specifier
 */
function exportedBy({ manifest }, specifier) {
  const path = `.${specifier.slice(manifest.name.length)}`;
  return path in (manifest.exports ?? {}) ? undefined : `${manifest.name} does not export ${path}`;
}

function main() {
  const members = readWorkspace();
  const faults = [];
  for (const member of members) {
    faults.push(...dependencyFaults(member).map((fault) => `${member.folder}/package.json: ${fault}`));
    for (const file of sourceFiles(member.folder)) {
      for (const { specifier, line } of importsOf(readFileSync(join(root, file), 'utf8'))) {
        const fault = faultOf(file, specifier, member, members);
        if (fault !== undefined) faults.push(`${file}:${line}: '${specifier}': ${fault}`);
      }
    }
  }
  const found = circle(members);
  if (found !== undefined)
    faults.push(`these packages depend on each other in a circle: ${found.join(' -> ')}`);
  for (const fault of faults) console.error(fault);
  process.exitCode = faults.length > 0 ? 1 : 0;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main();
