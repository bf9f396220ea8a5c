import { accept } from '@acemq/core';
import { idempotent, idempotentTransaction, memoryInbox, sqlInbox } from '@acemq/inbox';
import { expect, test } from 'vitest';
import { code, prose, rows } from './page.ts';

const wrong = { '?': true } as object;

/** The options that a call takes are those that it lists when it is given one that it does not know. */
function taken(call: () => unknown): string[] {
  expect(call).toThrow('there are');
  try {
    call();
  } catch (error) {
    return ((error as Error).message.split('there are ')[1] ?? '').split(', ').sort();
  }
  return [];
}

function named(column: string): string[] {
  return rows(prose('docs/inbox.md'), column)
    .flatMap(([cell = '']) => code(cell))
    .sort();
}

const none = sqlInbox({ dialect: 'sqlite' } as never, { cleanEvery: false });

test('inbox.md has every option of idempotent, and no other', () => {
  expect(named('Option of `idempotent`')).toEqual(
    taken(() => idempotent(() => accept(), memoryInbox(), wrong)),
  );
});

test('inbox.md has every option of idempotentTransaction, and no other', () => {
  expect(named('Option of `idempotentTransaction`')).toEqual(
    taken(() => idempotentTransaction(() => accept(), none, wrong)),
  );
});

test('inbox.md has every option of a store, and no other', () => {
  expect(named('Option of a store')).toEqual(taken(() => sqlInbox({ dialect: 'sqlite' } as never, wrong)));
});
