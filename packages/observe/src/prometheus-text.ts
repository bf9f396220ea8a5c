import type { DurationSummary } from './duration-summary.ts';
import { type LabelPair, labelBlock } from './metric-key.ts';
import type { Metrics } from './metrics.ts';
import type { Series } from './series.ts';

/** What a scrape endpoint answers as its content type with {@link prometheusText}. */
export const PROMETHEUS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * The numbers as a Prometheus scrape body (text format 0.0.4): counters, then gauges, then distributions as
 * summaries (`_count` and `_sum`), each in the order of their keys, with one TYPE line a metric.
 *
 * In the names of metrics and labels every character outside `[a-zA-Z0-9_]` becomes an underscore, and
 * nothing is added: `acemq.retry.rung.missing` is `acemq_retry_rung_missing`. Two names that become the same
 * are told apart by an underscore at the end, since a scraper refuses a whole body over one name used twice.
 * Label values keep their text.
 *
 * Ends with one line feed; empty where nothing was recorded.
 */
export function prometheusText(metrics: Metrics): string {
  const { counters, gauges, distributions } = metrics.series();
  const names = new ExposedNames();
  return [
    ...byMetric(counters).map(([metric, series]) => plainFamily(names.take(metric, ['']), 'counter', series)),
    ...byMetric(gauges).map(([metric, series]) => plainFamily(names.take(metric, ['']), 'gauge', series)),
    ...byMetric(distributions).map(([metric, series]) =>
      summaryFamily(names.take(metric, ['', '_count', '_sum']), series),
    ),
  ].join('');
}

function plainFamily(name: string, type: 'counter' | 'gauge', series: readonly Series<number>[]): string {
  const labelNames = new LabelNames();
  let text = `# TYPE ${name} ${type}\n`;
  for (const { labels, value } of series) text += `${name}${labelNames.block(labels)} ${value}\n`;
  return text;
}

function summaryFamily(name: string, series: readonly Series<DurationSummary>[]): string {
  const labelNames = new LabelNames();
  let text = `# TYPE ${name} summary\n`;
  for (const { labels, value } of series) {
    const block = labelNames.block(labels);
    text += `${name}_count${block} ${value.count}\n${name}_sum${block} ${value.total}\n`;
  }
  return text;
}

/** Series by metric, the metrics in the order in which their first keys come. */
function byMetric<Value>(
  series: readonly Series<Value>[],
): readonly (readonly [metric: string, series: readonly Series<Value>[]])[] {
  const groups = new Map<string, Series<Value>[]>();
  for (const one of series) {
    const group = groups.get(one.metric);
    if (group === undefined) groups.set(one.metric, [one]);
    else group.push(one);
  }
  return [...groups];
}

/** The names given out so far, with the suffixes that samples are written under. */
class ExposedNames {
  readonly #taken: Set<string> = new Set();

  take(name: string, suffixes: readonly string[]): string {
    let exposed = prometheusName(name);
    while (suffixes.some((suffix) => this.#taken.has(exposed + suffix))) exposed += '_';
    for (const suffix of suffixes) this.#taken.add(exposed + suffix);
    return exposed;
  }
}

/** The names of one metric's labels: the same name is always exposed as the same, and two never as one. */
class LabelNames {
  readonly #taken: ExposedNames = new ExposedNames();
  readonly #exposed: Map<string, string> = new Map();

  block(labels: readonly LabelPair[]): string {
    return labelBlock(labels.map(([name, value]): LabelPair => [this.#of(name), value]));
  }

  #of(name: string): string {
    let exposed = this.#exposed.get(name);
    if (exposed === undefined) {
      exposed = this.#taken.take(name, ['']);
      this.#exposed.set(name, exposed);
    }
    return exposed;
  }
}

/**
 * The name of a metric or a label as Prometheus takes it: every character outside `[a-zA-Z0-9_]` becomes an underscore,
 * and one is put before a digit at the start. Nothing is added otherwise: no `_total`, no `_seconds`.
 */
export function prometheusName(name: string): string {
  const plain = name.replaceAll(/[^a-zA-Z0-9_]/g, '_');
  return /^[a-zA-Z_]/.test(plain) ? plain : `_${plain}`;
}
