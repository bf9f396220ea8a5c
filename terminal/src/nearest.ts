/** `; did you mean --queue?` for a word that is close to a known one; nothing where none is. */
export function didYouMean(word: string, known: readonly string[]): string {
  const [best] = known
    .map((name) => ({ name, distance: name.startsWith(word) ? 0 : distance(word, name) }))
    .sort((a, b) => a.distance - b.distance);
  if (best === undefined || best.distance > Math.max(1, word.length / 3)) return '';
  return `; did you mean ${best.name}?`;
}

/** How many letters must be put in, taken out, changed, or swapped with their neighbour. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const changed = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwapped ? (before[j - 2] as number) + 1 : changed;
      next.push(Math.min(changed, swapped, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    before = row;
    row = next;
  }
  return row[b.length] as number;
}
