import { existsSync, readdirSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { guides, prose, root } from './page.ts';

const readmes = readdirSync(`${root}packages`)
  .map((name) => `packages/${name}/README.md`)
  .filter((file) => existsSync(root + file));
const pages = ['README.md', ...readmes, ...guides];

/** The anchors of a page, as GitHub makes them out of its headings. */
function anchors(file: string): string[] {
  return [...prose(file).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\- _]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** Where the links of a page lead, without those that leave the repository. */
function links(file: string): string[] {
  return [...prose(file).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target));
}

describe.for(pages)('%s', (file) => {
  test('has no link that leads nowhere', () => {
    for (const link of links(file)) {
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? file : posix.join(posix.dirname(file), path);
      expect(existsSync(root + target), `${link} in ${file}`).toBe(true);
      if (anchor !== undefined) expect(anchors(target), `${link} in ${file}`).toContain(anchor);
    }
  });
});

test('the index of the guides leads to each of them', () => {
  const listed = links('docs/README.md').map((link) => `docs/${link}`);
  expect(guides.filter((file) => file !== 'docs/README.md' && !listed.includes(file))).toEqual([]);
});
