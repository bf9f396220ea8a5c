import { expect, test } from 'vitest';
import { blocksOf } from '../readme-blocks.mjs';

const fence = '```';
const readme = (...lines: string[]): string => lines.join('\n');

test('a block keeps the line numbers of its README', () => {
  const [block] = blocksOf(
    'README.md',
    readme('# Title', '', `${fence}ts`, 'first();', 'second();', fence, 'End.'),
  );
  expect(block).toEqual({
    file: 'README.md',
    line: 4,
    code: '\n\n\nfirst();\nsecond();\n\n',
    noRun: undefined,
    until: undefined,
  });
});

test('blocks in other languages are left alone', () => {
  expect(blocksOf('README.md', readme(`${fence}sh`, 'npm test', fence, fence, 'plain', fence))).toEqual([]);
});

test('a marker holds for the block below it and for no later one', () => {
  const text = readme(
    '<!-- no-run: needs two machines -->',
    '',
    `${fence}ts`,
    'a();',
    fence,
    `${fence}ts`,
    'b();',
    fence,
  );
  expect(blocksOf('README.md', text).map((block) => block.noRun)).toEqual(['needs two machines', undefined]);
});

test('a marker above other text marks no block', () => {
  const text = readme('<!-- no-run: reason -->', 'Some words.', `${fence}ts`, 'a();', fence);
  expect(blocksOf('README.md', text).map((block) => block.noRun)).toEqual([undefined]);
});

test('a block that continues contains the one above it', () => {
  const text = readme(
    `${fence}ts`,
    'a();',
    fence,
    '<!-- continues -->',
    '<!-- until: ready -->',
    `${fence}ts`,
    'b();',
    fence,
  );
  const [, second] = blocksOf('README.md', text);
  expect(second?.code).toBe('\na();\n\n\n\n\nb();\n');
  expect(second?.until).toBe('ready');
});

test('a first block cannot continue', () => {
  const text = readme('<!-- continues -->', `${fence}ts`, 'b();', fence);
  expect(() => blocksOf('README.md', text)).toThrow('README.md:2: this block continues nothing');
});

test('a block without an end is refused', () => {
  expect(() => blocksOf('README.md', readme(`${fence}ts`, 'b();'))).toThrow(
    'README.md:1: this code block has no end',
  );
});
