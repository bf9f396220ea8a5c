import { ConfigurationError } from '@acemq/core';
import {
  DEFAULT_ATTEMPT_BUCKETS,
  DEFAULT_DURATION_BUCKETS,
  METRIC_CONSUME_TOTAL,
  METRIC_JOBS_DEPTH,
  METRICS,
} from '@acemq/observe';
import { metrics } from '@opentelemetry/api';
import {
  AggregationTemporality,
  DataPointType,
  InMemoryMetricExporter,
  MeterProvider,
  type MetricData,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { describe, expect, it, onTestFinished } from 'vitest';
import { OpenTelemetryObserver } from '../src/index.ts';
import { VERSION } from '../src/version.ts';

function kept(): {
  readonly observer: OpenTelemetryObserver;
  readonly meterProvider: MeterProvider;
  read(): Promise<Map<string, MetricData>>;
  scope(): unknown;
} {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  const meterProvider = new MeterProvider({ readers: [reader] });
  onTestFinished(() => meterProvider.shutdown());
  const scopes = () => exporter.getMetrics().at(-1)?.scopeMetrics ?? [];
  return {
    observer: new OpenTelemetryObserver({ meterProvider }),
    meterProvider,
    async read() {
      await meterProvider.forceFlush();
      return new Map(scopes().flatMap(({ metrics }) => metrics.map((one) => [one.descriptor.name, one])));
    },
    scope: () => scopes()[0]?.scope,
  };
}

describe('OpenTelemetryObserver', () => {
  it.each(METRICS)(
    'writes $name with its unit, buckets and help',
    async ({ name, kind, unit, help, labels }) => {
      const { observer, read, scope } = kept();
      const attributes = Object.fromEntries(labels.map((label) => [label, 'x']));
      const methods = { counter: 'count', gauge: 'gauge', distribution: 'observe' } as const;
      observer[methods[kind]](name, 2, attributes);
      observer[methods[kind]](name, 3, attributes);
      const data = (await read()).get(name);
      expect(data?.descriptor.description).toBe(help);
      expect(scope()).toMatchObject({ name: 'org.acemq.amqp', version: VERSION });
      expect(data?.dataPoints.map((point) => point.attributes)).toEqual([attributes]);
      if (data?.dataPointType === DataPointType.HISTOGRAM) {
        const attempts = unit === 'attempts';
        expect(kind).toBe('distribution');
        expect(data.descriptor.unit).toBe(attempts ? '{attempt}' : 's');
        const value = data.dataPoints[0]?.value;
        expect(value).toMatchObject({ count: 2, sum: 5 });
        expect(value?.buckets.boundaries).toEqual(
          attempts ? DEFAULT_ATTEMPT_BUCKETS : DEFAULT_DURATION_BUCKETS,
        );
      } else {
        expect(data?.dataPoints[0]?.value).toBe(kind === 'counter' ? 5 : 3);
      }
    },
  );

  it('hands on a gauge that nobody knows as NaN, and the number once it is known again', async () => {
    const { observer, read } = kept();
    const labels = { kind: 'render_tickets' };
    for (const value of [7, Number.NaN]) observer.gauge(METRIC_JOBS_DEPTH, value, labels);
    expect((await read()).get(METRIC_JOBS_DEPTH)?.dataPoints[0]?.value).toBeNaN();
    observer.gauge(METRIC_JOBS_DEPTH, 3, labels);
    expect((await read()).get(METRIC_JOBS_DEPTH)?.dataPoints[0]?.value).toBe(3);
  });

  it('writes to the SDK that is registered later, and to the next one', async () => {
    const observer = new OpenTelemetryObserver();
    const labels = { queue: 'q', outcome: 'acked' };
    observer.count(METRIC_CONSUME_TOTAL, 1, labels);
    for (const expected of [2, 3]) {
      const { meterProvider, read } = kept();
      metrics.setGlobalMeterProvider(meterProvider);
      onTestFinished(() => metrics.disable());
      observer.count(METRIC_CONSUME_TOTAL, expected, labels);
      expect((await read()).get(METRIC_CONSUME_TOTAL)?.dataPoints[0]?.value).toBe(expected);
      metrics.disable();
    }
  });

  it.each([
    ['count', Number.NaN],
    ['count', -1],
    ['count', '5'],
    ['observe', Number.NaN],
    ['gauge', Number.POSITIVE_INFINITY],
  ] as const)('refuses what no exporter could take back: %s of %s', async (method, value) => {
    const { observer, read } = kept();
    observer[method](METRIC_CONSUME_TOTAL, 1, {});
    expect(() => observer[method](METRIC_CONSUME_TOTAL, value as number, {})).toThrow(ConfigurationError);
    const [point] = (await read()).get(METRIC_CONSUME_TOTAL)?.dataPoints ?? [];
    expect(point?.value).toEqual(method === 'observe' ? expect.objectContaining({ sum: 1 }) : 1);
  });

  it('throws nothing that a meter throws', () => {
    const getMeter = (): never => {
      throw new Error('no meter');
    };
    const observer = new OpenTelemetryObserver({ meterProvider: { getMeter } });
    expect(() => observer.count('acemq.publish.total', 1, {})).not.toThrow();
  });

  it('refuses a provider that is none, and options that nobody reads', () => {
    const make = (options: object) => (): OpenTelemetryObserver => new OpenTelemetryObserver(options);
    expect(make({ meterProvider: {} })).toThrow(/getMeter/);
    expect(make({ meter: {} })).toThrow(/meter/);
  });
});
