// npm run release:version: takes the changesets into versions and changelogs, then writes each package's new version into its
// src/version.ts, where it has one.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { run } from './command.mjs';
import { root } from './tools.mjs';
import { readWorkspace } from './workspace.mjs';

/**
 * @param {string} source the text of a version.ts
 * @param {string} version
 * @returns {string}
 * @throws {Error} when it does not say a version once
 */
export function withVersion(source, version) {
  const said = /(VERSION = ')[^']*(')/g;
  if ([...source.matchAll(said)].length !== 1) throw new Error(`VERSION does not stand once in: ${source}`);
  return source.replace(said, `$1${version}$2`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { code } = await run('changeset', ['version'], { stream: true });
  if (code !== 0) process.exit(code);
  for (const { folder, manifest } of readWorkspace()) {
    const file = join(root, folder, 'src/version.ts');
    if (existsSync(file) && manifest.version !== undefined) {
      writeFileSync(file, withVersion(readFileSync(file, 'utf8'), manifest.version));
    }
  }
}
