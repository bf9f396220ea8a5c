import { readFileSync } from 'node:fs';
import { METRICS } from '@acemq/observe';
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import { beforeAll, describe, expect, test } from 'vitest';
import { OpenTelemetryObserver } from '../src/index.ts';

interface Definition {
  readonly kind: string;
  readonly spellings: Readonly<Record<string, string>>;
}

const fixture = JSON.parse(
  readFileSync(new URL('../../../contract-fixtures/telemetry.json', import.meta.url), 'utf8'),
) as { readonly metrics: Readonly<Record<string, Definition>> };

class Collecting extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

/** What the Prometheus exporter of OpenTelemetry serves once every metric has a sample. */
async function served(): Promise<string> {
  const reader = new Collecting();
  const observer = new OpenTelemetryObserver({ meterProvider: new MeterProvider({ readers: [reader] }) });
  for (const { name, kind, labels } of METRICS) {
    const given = Object.fromEntries(labels.map((label) => [label, 'v']));
    if (kind === 'counter') observer.count(name, 1, given);
    else if (kind === 'gauge') observer.gauge(name, 1, given);
    else observer.observe(name, 1, given);
  }
  const { resourceMetrics } = await reader.collect();
  return new PrometheusSerializer().serialize(resourceMetrics);
}

describe('the Prometheus exporter of OpenTelemetry', () => {
  let samples: ReadonlyMap<string, string>;
  beforeAll(async () => {
    const lines = (await served()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    samples = new Map(
      lines.map((line) => [line.slice(0, line.indexOf('{')), line.slice(line.indexOf('{') + 1)]),
    );
  });

  test.for(Object.entries(fixture.metrics))(
    'spells %s as the contract says, with its labels',
    ([name, one]) => {
      const exposed = one.spellings['opentelemetry'] ?? '';
      const written = one.kind === 'distribution' ? [`${exposed}_count`, `${exposed}_sum`] : [exposed];
      for (const sample of written) {
        const labels = METRICS.find((metric) => metric.name === name)?.labels ?? [];
        for (const label of labels) {
          expect(samples.get(sample), sample).toContain(`${label.replaceAll('.', '_')}="v"`);
        }
      }
    },
  );

  test('serves nothing of ours under another name', () => {
    const expected = Object.values(fixture.metrics).flatMap(({ kind, spellings }) => {
      const exposed = spellings['opentelemetry'] ?? '';
      const suffixes = kind === 'distribution' ? ['_bucket', '_count', '_sum'] : [''];
      return suffixes.map((suffix) => exposed + suffix);
    });
    expect([...samples.keys()].filter((name) => name !== 'target_info').sort()).toEqual(expected.sort());
  });

  test('adds labels that say which library measured', () => {
    expect(samples.get('acemq_publish_total')).toContain('otel_scope_name="org.acemq.amqp"');
  });
});
