import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { LIST_HELP, PURGE_HELP, REPLAY_HELP, SHOW_HELP } from '../src/help.ts';

const flagsOf = (text: string): string[] => [...new Set(text.match(/--[a-z][a-z-]+/g))].sort();

it('the page of the command line has every flag that the help has, and no other', () => {
  const page = readFileSync(new URL('../../../docs/command-line.md', import.meta.url), 'utf8');
  const named = flagsOf(page).filter((flag) => flag !== '--global');
  expect(named).toEqual(flagsOf([LIST_HELP, SHOW_HELP, REPLAY_HELP, PURGE_HELP].join('')));
});

it.each([
  ['list', LIST_HELP],
  ['show', SHOW_HELP],
  ['replay', REPLAY_HELP],
  ['purge', PURGE_HELP],
])('the help of %s stays within 80 columns', (_name, help) => {
  for (const line of help.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
});
