import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The root of the repository. */
export const root: string = fileURLToPath(new URL('../../', import.meta.url));

/** Every page of this folder and of `patterns/`, from the root. */
export const guides: readonly string[] = ['docs', 'docs/patterns'].flatMap((folder) =>
  readdirSync(root + folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`),
);

/** The text of a page. */
export function pageText(file: string): string {
  return readFileSync(root + file, 'utf8');
}

/** The text of a page without its code blocks. */
export function prose(file: string): string {
  return pageText(file).replaceAll(/^```[\s\S]*?^```$/gm, '');
}

/** The text of one section: from its heading to the next one of the same or a higher level. */
export function section(file: string, heading: string): string {
  const lines = prose(file).split('\n');
  const start = lines.indexOf(heading);
  if (start < 0) throw new Error(`${file} has no heading "${heading}"`);
  const level = heading.indexOf(' ');
  const length = lines.slice(start + 1).findIndex((line) => /^#+ /.test(line) && line.indexOf(' ') <= level);
  return lines.slice(start, length < 0 ? undefined : start + 1 + length).join('\n');
}

/** The rows of every table in a text whose first column has this heading: each a list of cells. */
export function rows(text: string, firstColumn: string): string[][] {
  const found: string[][] = [];
  let inside = false;
  for (const line of text.split('\n')) {
    if (!line.startsWith('|')) {
      inside = false;
      continue;
    }
    const cells = line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim());
    if (cells[0] === firstColumn) inside = true;
    else if (inside && !/^-+$/.test(cells[0] ?? '')) found.push(cells);
  }
  if (found.length === 0) throw new Error(`there is no table with a column "${firstColumn}"`);
  return found;
}

/** Everything in backquotes, in order. */
export function code(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, word]) => word ?? '');
}
