const BARS = '▁▂▃▄▅▆▇█';

/** The last values of a line, as small bars from 0 to the greatest of them; a gap where a value is not known. */
export function trend(values: readonly (number | null)[], width: number): string {
  const last = values.slice(-width);
  const top = Math.max(...last.map((value) => value ?? 0));
  return last
    .map((value) => {
      if (value === null) return ' ';
      return BARS[top === 0 ? 0 : Math.min(BARS.length - 1, Math.floor((value / top) * BARS.length))] ?? ' ';
    })
    .join('');
}
