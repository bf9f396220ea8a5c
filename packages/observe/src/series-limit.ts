import { ConfigurationError, guardLogger, type Logger, shown } from '@acemq/core';
import type { LabelPair } from './metric-key.ts';
import { TAG_OUTCOME, TAG_QUEUE } from './tag-names.ts';

/** What stands for the values that no longer get a series of their own. */
const OTHER = 'other';

/** A failure has to go on reading as one, and a queue as itself. */
const NEVER_REPLACED: ReadonlySet<string> = new Set([TAG_OUTCOME, TAG_QUEUE]);

/** What is said of a metric that has as many label sets as it may have. */
export interface FullMetric {
  readonly metric: string;
  readonly maxSeries: number;
  /** The label with the most values, of those that may be replaced where there is one. */
  readonly label: string;
  /** Whether that label reads `other` in new label sets; they are left out otherwise. */
  readonly replaced: boolean;
}

/**
 * @returns `maxSeries`, or the default where it is not given.
 * @throws ConfigurationError (`ACEMQ_CONFIGURATION`) when it is not a whole number of at least 1.
 */
export function checkMaxSeries(maxSeries: number | undefined, otherwise: number): number {
  if (maxSeries === undefined) return otherwise;
  if (Number.isSafeInteger(maxSeries) && maxSeries >= 1) return maxSeries;
  throw new ConfigurationError(`maxSeries is ${shown(maxSeries)}; a whole number of at least 1 is allowed`);
}

/**
 * How many values each label has among the label sets of a metric.
 */
export function valuesByLabel(all: Iterable<readonly LabelPair[]>): ReadonlyMap<string, number> {
  const values = new Map<string, Set<string>>();
  for (const labels of all) {
    for (const [name, value] of labels) {
      const seen = values.get(name);
      if (seen === undefined) values.set(name, new Set([value]));
      else seen.add(value);
    }
  }
  return new Map([...values].map(([name, seen]) => [name, seen.size]));
}

/**
 * What a new label set of a full metric may be counted under, in this order: with `other` for the label that
 * has the most values, and with `other` for every label that may be replaced. Empty where none may.
 */
export function replacements(
  labels: readonly LabelPair[],
  widths: ReadonlyMap<string, number>,
): readonly (readonly LabelPair[])[] {
  const names = replaceable(labels);
  const widest = widestOf(names, widths);
  if (widest === undefined) return [];
  const first = withOther(labels, [widest]);
  return names.length === 1 ? [first] : [first, withOther(labels, names)];
}

/** What the warning says of a metric, from the first label set that found no place. */
export function fullMetric(
  metric: string,
  maxSeries: number,
  labels: readonly LabelPair[],
  widths: ReadonlyMap<string, number>,
  mayReplace: boolean,
): FullMetric {
  const replaced = mayReplace ? widestOf(replaceable(labels), widths) : undefined;
  const names = labels.map(([name]) => name);
  return {
    metric,
    maxSeries,
    label: replaced ?? widestOf(names, widths) ?? '',
    replaced: replaced !== undefined,
  };
}

/**
 * Tells a log about full metrics, once about each. A log that fails costs no sample.
 *
 * @throws ConfigurationError (`ACEMQ_CONFIGURATION`) for a logger without `warn`.
 */
export function warnOfFull(logger: Pick<Logger, 'warn'>): (full: FullMetric) => void {
  const log = guardLogger(logger, ['warn']);
  const told = new Set<string>();
  return ({ metric, maxSeries, label, replaced }) => {
    if (told.has(metric)) return;
    told.add(metric);
    const consequence = replaced
      ? `in new ones ${label} reads "other"`
      : `new ones are left out; most values are those of ${label}`;
    log.warn(`${metric} has ${maxSeries} label sets, as many as maxSeries allows: ${consequence}`, {
      metric,
      maxSeries,
      label,
    });
  };
}

function replaceable(labels: readonly LabelPair[]): readonly string[] {
  return labels.map(([name]) => name).filter((name) => !NEVER_REPLACED.has(name));
}

/** The first of those with the most values. */
function widestOf(names: readonly string[], widths: ReadonlyMap<string, number>): string | undefined {
  let widest: string | undefined;
  for (const name of names) {
    if (widest === undefined || (widths.get(name) ?? 0) > (widths.get(widest) ?? 0)) widest = name;
  }
  return widest;
}

function withOther(labels: readonly LabelPair[], names: readonly string[]): readonly LabelPair[] {
  return labels.map((pair) => (names.includes(pair[0]) ? Object.freeze([pair[0], OTHER] as const) : pair));
}
