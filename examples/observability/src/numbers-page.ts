import type { Names } from './names.ts';
import { type ScrapedSample, samplesOf, sumOf } from './scrape.ts';

/** The counters that are shown, in this order. */
const SHOWN = [
  'acemq_publish_total',
  'acemq_consume_total',
  'acemq_messages_retried_total',
  'acemq_messages_dead_lettered_total',
];

/** A few numbers of a scrape, with the run's prefix left out of their labels. */
export function numbersPage(body: string, { prefix, orders }: Names): string {
  const samples = samplesOf(body);
  const lines = SHOWN.flatMap((metric) => [`  ${metric}`, ...rowsOf(samples, metric, prefix)]);
  const mean = (metric: string): number =>
    sumOf(samples, `${metric}_sum`, { queue: orders }) / sumOf(samples, `${metric}_count`, { queue: orders });
  return [
    ...lines,
    `  a handler of orders takes ${(1000 * mean('acemq_consume_duration')).toFixed(1)} ms on average,`,
    `  and a delivery of orders is attempt ${mean('acemq_consume_attempts').toFixed(2)} on average`,
  ].join('\n');
}

function rowsOf(samples: readonly ScrapedSample[], metric: string, prefix: string): string[] {
  return samples
    .filter((one) => one.metric === metric)
    .map(({ labels, value }) => {
      const text = Object.entries(labels).map(([name, label]) => `${name}=${withoutPrefix(label, prefix)}`);
      return `    ${text.sort().join('  ').padEnd(64)}${String(value).padStart(6)}`;
    })
    .sort();
}

function withoutPrefix(text: string, prefix: string): string {
  return text.startsWith(prefix) ? text.slice(prefix.length) : text;
}
