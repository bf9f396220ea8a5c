import type { Labels } from './observer.ts';

/** One label: its name and its value. */
export type LabelPair = readonly [name: string, value: string];

/**
 * The labels as pairs in the order of their names (by UTF-16 code unit), so that the order they were given in
 * is gone.
 */
export function sortedLabels(labels: Labels): readonly LabelPair[] {
  return Object.keys(labels)
    .sort()
    .map((name): LabelPair => Object.freeze([name, String(labels[name])] as const));
}

/**
 * The one text that stands for a metric with these labels, whatever order they were given in:
 * `acemq.publish.total{exchange="b",key="a"}`, or the name alone where there are no labels.
 *
 * Backslash, double quote and line feed are escaped (`\\`, `\"`, `\n`), and a `{` in the name of a metric, so
 * that two different series never share a key.
 */
export function metricKey(metric: string, labels: Labels): string {
  return keyOf(metric, sortedLabels(labels));
}

export function keyOf(metric: string, labels: readonly LabelPair[]): string {
  const name = escapeText(metric).replaceAll('{', '\\{');
  return labels.length === 0 ? name : `${name}${labelBlock(labels)}`;
}

/** `{a="1",b="2"}`; empty where there are no labels. */
export function labelBlock(labels: readonly LabelPair[]): string {
  if (labels.length === 0) return '';
  return `{${labels.map(([name, value]) => `${escapeText(name)}="${escapeText(value)}"`).join(',')}}`;
}

const NEEDS_ESCAPE = /[\\"\n]/;

function escapeText(text: string): string {
  if (!NEEDS_ESCAPE.test(text)) return text;
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
