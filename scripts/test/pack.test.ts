import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packInto } from '../pack.mjs';
import { root } from '../tools.mjs';
import { type Manifest, readWorkspace } from '../workspace.mjs';

const run = promisify(execFile);
const packages = readWorkspace().filter(({ manifest }) => manifest.private !== true);
const names = packages.map(({ manifest }) => manifest.name);
const folder = mkdtempSync(join(tmpdir(), 'acemq-pack-'));
const modules = join(folder, 'node_modules');

/** The tarballs, unpacked where an install puts them, beside what they depend on from npm. */
beforeAll(async () => {
  const tarballs = await packInto(join(folder, 'packed'));
  for (const [index, file] of tarballs.entries()) {
    const target = join(modules, names[index] ?? '');
    mkdirSync(target, { recursive: true });
    await run('tar', ['-xzf', file, '-C', target, '--strip-components=1']);
  }
  for (const { folder: member, manifest } of packages) {
    for (const name of Object.keys(manifest.dependencies ?? {})) {
      const path = join(modules, name);
      if (existsSync(path)) continue;
      mkdirSync(dirname(path), { recursive: true });
      symlinkSync(join(root, member, 'node_modules', name), path, 'junction');
    }
  }
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true }));

describe.for(names)('the tarball of %s', (name) => {
  const installed = (file: string): string => readFileSync(join(modules, name, file), 'utf8');

  test('depends on versions, and names no source', () => {
    const text = installed('package.json');
    expect(text).not.toContain('workspace:');
    expect(text).not.toContain('@acemq/source');
    for (const [other, range] of Object.entries((JSON.parse(text) as Manifest).dependencies ?? {}))
      expect(range, other).toMatch(/^\^\d+\.\d+\.\d+/);
  });

  test('has its README and its licence', () => {
    expect(installed('README.md')).toContain(name);
    expect(installed('LICENSE')).toContain('MIT');
  });
});

test.for([
  ['an ES module', 'program.mjs', (name: string) => `await import('${name}')`],
  ['a CommonJS module', 'program.cjs', (name: string) => `require('${name}')`],
] as const)('%s works with what was installed', { timeout: 60_000 }, async ([, file, load]) => {
  writeFileSync(
    join(folder, file),
    `(async () => {
      const { topology } = ${load('@acemq/core')};
      const { connect } = ${load('@acemq/amqp')};
      const { memoryBroker } = ${load('@acemq/testing')};
      const mq = await connect(memoryBroker());
      await mq.declare(topology().queue('q'));
      await mq.publisher({ routingKey: 'q' }).send('hello');
      console.log(await mq.messageCount('q'), 'message');
      await mq.close();
    })();`,
  );
  const { stdout } = await run(process.execPath, [join(folder, file)], { cwd: folder });
  expect(stdout).toBe('1 message\n');
});
