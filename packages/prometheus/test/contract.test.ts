import { readFileSync } from 'node:fs';
import type { Observer } from '@acemq/observe';
import { describe, expect, it, test } from 'vitest';
import { DEFAULT_ATTEMPT_BUCKETS, DEFAULT_DURATION_BUCKETS } from '../src/index.ts';
import * as prometheusIo from '../src/prometheus-io.ts';
import { clients, linesOf } from './clients.ts';

interface Row {
  readonly kind: 'counter' | 'gauge' | 'distribution';
  readonly unit: string;
  readonly labels: readonly string[];
  readonly help: string;
  readonly spellings: { readonly text: string; readonly openmetrics: string };
}

const fixture = JSON.parse(
  readFileSync(new URL('../../../contract-fixtures/telemetry.json', import.meta.url), 'utf8'),
) as {
  readonly metrics: Readonly<Record<string, Row>>;
  readonly buckets: { readonly duration: readonly number[]; readonly attempts: readonly number[] };
};
const rows = Object.entries(fixture.metrics).map(([metric, row]) => ({ metric, ...row }));
const TYPES = { counter: 'counter', gauge: 'gauge', distribution: 'histogram' };

function write(observer: Observer, { metric, kind, labels }: (typeof rows)[number]): void {
  const values = Object.fromEntries(labels.map((label) => [label, `a.${label}`]));
  if (kind === 'counter') observer.count(metric, 3, values);
  else if (kind === 'gauge') observer.gauge(metric, 3, values);
  else observer.observe(metric, 3, values);
}

describe.each(clients)('the contract, with $name', ({ observer, registry }) => {
  test.for(rows)('$metric has its type, its help, its labels and nothing added to its name', async (row) => {
    const own = registry();
    write(observer({ registry: own }), row);
    const name = row.spellings.text;
    const labels = row.labels.map((label) => `${label.replaceAll('.', '_')}="a.${label}"`).join(',');
    const bounds = row.unit === 'attempts' ? fixture.buckets.attempts : fixture.buckets.duration;
    const samples =
      row.kind === 'distribution'
        ? [
            ...bounds.map((bound) => `${name}_bucket{le="${bound}",${labels}} ${bound < 3 ? 0 : 1}`),
            `${name}_bucket{le="+Inf",${labels}} 1`,
            `${name}_sum{${labels}} 3`,
            `${name}_count{${labels}} 1`,
          ]
        : [`${name}{${labels}} 3`];
    expect(await linesOf(own)).toEqual([
      `# HELP ${name} ${row.help}`,
      `# TYPE ${name} ${TYPES[row.kind]}`,
      ...samples,
    ]);
  });

  test.for(rows)('$metric is spelled as the contract says where OpenMetrics is served', async (row) => {
    const own = registry();
    own.setContentType('application/openmetrics-text; version=1.0.0; charset=utf-8' as never);
    write(observer({ registry: own }), row);
    const sample = row.spellings.openmetrics + (row.kind === 'distribution' ? '_count{' : '{');
    expect(await linesOf(own, sample)).toHaveLength(1);
  });

  it('shows a metric once it has a sample, and not before', async () => {
    const own = registry();
    observer({ registry: own });
    expect(await linesOf(own)).toEqual([]);
  });
});

describe('the buckets of both entry points', () => {
  it('are those of the contract', () => {
    expect(DEFAULT_DURATION_BUCKETS).toEqual(fixture.buckets.duration);
    expect(DEFAULT_ATTEMPT_BUCKETS).toEqual(fixture.buckets.attempts);
    expect(prometheusIo.DEFAULT_DURATION_BUCKETS).toBe(DEFAULT_DURATION_BUCKETS);
    expect(prometheusIo.DEFAULT_ATTEMPT_BUCKETS).toBe(DEFAULT_ATTEMPT_BUCKETS);
  });
});
