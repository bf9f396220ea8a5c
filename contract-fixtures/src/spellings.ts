import { type MetricDefinition, Metrics, prometheusText } from '@acemq/observe';

/** The name of a metric in Prometheus, by what wrote it. The samples of a distribution have `_count` and `_sum` behind it. */
interface Spellings {
  /** The text format: `prometheusText`, and the Prometheus clients when asked for it. */
  readonly text: string;
  /** OpenMetrics, which the Prometheus clients can be told to write: every counter ends with `_total`. */
  readonly openmetrics: string;
  /** The Prometheus exporter of OpenTelemetry for JavaScript: as OpenMetrics, and no unit. */
  readonly opentelemetry: string;
  /** OTLP into a collector or into Prometheus, with the suffixes of the OpenTelemetry specification: the unit as well. */
  readonly otlp: string;
}

export function spellings({ name, kind, unit }: MetricDefinition): Spellings {
  const text = asText(name);
  const counted = kind === 'counter' && !text.endsWith('_total') ? `${text}_total` : text;
  // A unit in braces, such as {attempt}, is none to a translation, and gauges and counters are given none.
  const withUnit = kind === 'distribution' && unit === 'seconds' ? `${counted}_seconds` : counted;
  return { text, openmetrics: counted, opentelemetry: counted, otlp: withUnit };
}

function asText(name: string): string {
  const metrics = new Metrics();
  metrics.count(name, 1, {});
  const [, , written = ''] = prometheusText(metrics).split(' ');
  return written;
}
