import { expect, test } from 'vitest';
import { branchesOf, type Node } from '../src/trace-tree.ts';

const node = (id: string, parent: string | undefined, start: number): Node => ({ id, parent, start });
const drawn = (nodes: readonly Node[]): string[] =>
  branchesOf(nodes).map(({ node: { id }, art }) => art + id);

test('children stand under their parents, the earlier first, whatever the order in which they come', () => {
  const nodes = [
    node('leaf', 'b', 4),
    node('b', 'root', 2),
    node('root', undefined, 0),
    node('a', 'root', 1),
  ];
  expect(drawn(nodes)).toEqual(['root', '├─ a', '└─ b', '   └─ leaf']);
});

test('what belongs to a node is drawn beside the line to its children and its siblings', () => {
  const nodes = [node('root', undefined, 0), node('a', 'root', 1), node('b', 'root', 2)];
  expect(branchesOf(nodes).map(({ below }) => below)).toEqual(['│ ', '│    ', '     ']);
});

test('a span whose parent is not among them is a root', () => {
  expect(drawn([node('a', 'elsewhere', 0), node('b', undefined, 1)])).toEqual(['a', 'b']);
});
