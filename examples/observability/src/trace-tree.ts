/** What a tree needs to know of a span. */
export interface Node {
  readonly id: string;
  readonly parent: string | undefined;
  /** Milliseconds since the epoch. */
  readonly start: number;
}

/** A node with the line art that goes before its name, and before what belongs to it. */
export interface Branch<T> {
  readonly node: T;
  readonly art: string;
  readonly below: string;
}

/** The nodes from the roots down, the earlier first. One whose parent is not among them is a root. */
export function branchesOf<T extends Node>(nodes: readonly T[]): readonly Branch<T>[] {
  const ids = new Set(nodes.map(({ id }) => id));
  const sorted = [...nodes].sort((a, b) => a.start - b.start);
  const childrenOf = (id: string): readonly T[] => sorted.filter(({ parent }) => parent === id);
  const walk = (node: T, above: string, art: string, under: string): readonly Branch<T>[] => {
    const children = childrenOf(node.id);
    const below = above + under;
    const branch = { node, art: above + art, below: below + (children.length > 0 ? '│ ' : '  ') };
    return [
      branch,
      ...children.flatMap((child, index) =>
        index === children.length - 1 ? walk(child, below, '└─ ', '   ') : walk(child, below, '├─ ', '│  '),
      ),
    ];
  };
  const roots = sorted.filter(({ parent }) => parent === undefined || !ids.has(parent));
  return roots.flatMap((root) => walk(root, '', '', ''));
}
