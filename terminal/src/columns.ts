/** Lines up rows: the first column to the left, the others to the right. */
export function columns(
  rows: readonly (readonly string[])[],
  written: (cell: string, row: number, column: number) => string = (cell) => cell,
): string {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, index) => {
      widths[index] = Math.max(widths[index] ?? 0, cell.length);
    });
  }
  return rows
    .map((row, at) => {
      const line = row.map((cell, index) => {
        const width = widths[index] ?? 0;
        return written(index === 0 ? cell.padEnd(width) : cell.padStart(width), at, index);
      });
      return `${line.join('  ').trimEnd()}\n`;
    })
    .join('');
}
