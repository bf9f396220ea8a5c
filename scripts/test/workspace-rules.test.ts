import { expect, test } from 'vitest';
import { packageFaults, versionFaults } from '../check-workspace.mjs';
import type { Manifest, Member } from '../workspace.mjs';
import { readWorkspace } from '../workspace.mjs';

const core = readWorkspace().find(({ folder }) => folder === 'packages/core');
if (core === undefined) throw new Error('packages/core is not there.');
const { manifest } = core;

test.each<[string, Partial<Manifest>]>([
  ['license must be MIT', { license: 'ISC' }],
  ['sideEffects must be false', { sideEffects: true }],
  [
    'publishConfig.exports must be exports without @acemq/source',
    { exports: { ...manifest.exports, './more': {} } },
  ],
  ['script build must be "tsup"', { scripts: { ...manifest.scripts, build: 'tsc' } }],
])('a published package is refused: %s', (fault, change) => {
  expect(packageFaults({ folder: 'packages/core', manifest: { ...manifest, ...change } })).toEqual([fault]);
});

const one = (fields: Omit<Manifest, 'name'>): Member => ({
  folder: 'packages/one',
  manifest: { name: '@acemq/one', ...fields },
});
const two = (fields: Omit<Manifest, 'name'>): Member => ({
  folder: 'packages/two',
  manifest: { name: '@acemq/two', ...fields },
});

test('a tool in two versions is refused', () => {
  const members = [one({ devDependencies: { zod: '4.6.7' } }), two({ devDependencies: { zod: '4.6.6' } })];
  expect(versionFaults(members)).toEqual(['packages/two: zod is 4.6.6, and 4.6.7 in packages/one']);
});

test('a range and the exact version of the same release agree', () => {
  expect(
    versionFaults([one({ dependencies: { pg: '^8.23.1' } }), two({ devDependencies: { pg: '8.23.1' } })]),
  ).toEqual([]);
});

test('a sibling by anything but workspace:^ is refused', () => {
  expect(versionFaults([one({ dependencies: { '@acemq/core': '^1.0.0' } })])).toEqual([
    'packages/one: @acemq/core must be workspace:^, not ^1.0.0',
  ]);
});

test('a peer that is not there to be tested with is refused', () => {
  expect(versionFaults([one({ peerDependencies: { pg: '^8.0.0' } })])).toEqual([
    'packages/one: the peer pg must be a devDependency too, to be tested',
  ]);
});
