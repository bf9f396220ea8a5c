import { HEALTH_SENTENCES } from '@acemq/health';
import {
  DEFAULT_ATTEMPT_BUCKETS,
  DEFAULT_DURATION_BUCKETS,
  type Labels,
  METRIC_CONSUME_DURATION,
  METRIC_CONSUME_IN_FLIGHT,
  METRIC_CONSUME_TOTAL,
  METRIC_DEAD_LETTERED_TOTAL,
  METRIC_OUTBOX_TOTAL,
  METRIC_PIPELINE_RUN_TOTAL,
  METRIC_PUBLISH_TOTAL,
  METRIC_REQUEST_TOTAL,
  METRIC_RETRIED_TOTAL,
  METRICS,
  Metrics,
  metricKey,
  prometheusText,
  TAG_MESSAGE_TYPE,
  TAG_OUTCOME,
  TAG_TRANSPORT,
  TAG_WHERE,
} from '@acemq/observe';
import { CONNECTION_MOMENTS } from './moments.ts';
import { PATTERN_MOMENTS } from './pattern-moments.ts';
import { spellings } from './spellings.ts';
import { tracingFixtures } from './tracing.ts';

const KEY_CASES: readonly (readonly [metric: string, labels: Labels])[] = [
  [METRIC_PUBLISH_TOTAL, {}],
  [METRIC_CONSUME_TOTAL, { queue: 'shipping.orders', outcome: 'acked' }],
  [METRIC_PUBLISH_TOTAL, { 'routing.key': 'order.placed', outcome: 'confirmed', exchange: '' }],
  [METRIC_CONSUME_TOTAL, { queue: 'a"b\\c\nd,e{f}', outcome: 'acked' }],
];

/** What is counted, under which names and labels, and how it is printed. */
export function telemetryFixtures(): object {
  return {
    generatedBy: 'acemq-typescript',
    contract:
      'The metrics of AceMQ: names, kinds, units, labels, and the values that a label may have; when each moves; the sentences of health; the spans of tracing.',
    metrics: Object.fromEntries(
      METRICS.map((metric) => {
        const { name, kind, unit, labels, values, help } = metric;
        return [name, { kind, unit, labels, values, spellings: spellings(metric), help }];
      }),
    ),
    outcomes: {
      publish: valuesOf(METRIC_PUBLISH_TOTAL, TAG_OUTCOME),
      consume: valuesOf(METRIC_CONSUME_TOTAL, TAG_OUTCOME),
      setAside: valuesOf(METRIC_DEAD_LETTERED_TOTAL, TAG_OUTCOME),
      request: valuesOf(METRIC_REQUEST_TOTAL, TAG_OUTCOME),
      outbox: valuesOf(METRIC_OUTBOX_TOTAL, TAG_OUTCOME),
      pipeline: valuesOf(METRIC_PIPELINE_RUN_TOTAL, TAG_OUTCOME),
    },
    where: valuesOf(METRIC_RETRIED_TOTAL, TAG_WHERE),
    labels: [...new Set(METRICS.flatMap(({ labels }) => labels))].sort(),
    labelsNeverAttached: [TAG_MESSAGE_TYPE, TAG_TRANSPORT],
    keys: KEY_CASES.map(([metric, labels]) => ({ metric, labels, key: metricKey(metric, labels) })),
    exposition: exposition(),
    buckets: { duration: DEFAULT_DURATION_BUCKETS, attempts: DEFAULT_ATTEMPT_BUCKETS },
    moments: [...CONNECTION_MOMENTS, ...PATTERN_MOMENTS],
    health: HEALTH_SENTENCES,
    tracing: tracingFixtures(),
  };
}

function valuesOf(metric: string, label: string): readonly string[] {
  const values = METRICS.find(({ name }) => name === metric)?.values[label];
  if (values === undefined) throw new Error(`${metric} has no list of values for ${label}`);
  return values;
}

/** Some samples in the order in which they are taken, and what comes of them. */
function exposition(): object {
  const samples = [
    {
      call: 'observe',
      metric: METRIC_CONSUME_DURATION,
      value: 0.02,
      labels: { queue: 'shipping.orders', outcome: 'acked' },
    },
    {
      call: 'observe',
      metric: METRIC_CONSUME_DURATION,
      value: 0.04,
      labels: { queue: 'shipping.orders', outcome: 'acked' },
    },
    { call: 'gauge', metric: METRIC_CONSUME_IN_FLIGHT, value: 5, labels: { queue: 'shipping.orders' } },
    { call: 'gauge', metric: METRIC_CONSUME_IN_FLIGHT, value: 2, labels: { queue: 'shipping.orders' } },
    {
      call: 'count',
      metric: METRIC_CONSUME_TOTAL,
      value: 3,
      labels: { queue: 'shipping.orders', outcome: 'acked' },
    },
    {
      call: 'count',
      metric: METRIC_CONSUME_TOTAL,
      value: 1,
      labels: { queue: 'shipping.orders', outcome: 'parked' },
    },
    {
      call: 'count',
      metric: METRIC_PUBLISH_TOTAL,
      value: 1,
      labels: { exchange: 'orders-events', outcome: 'confirmed', 'routing.key': 'order.placed' },
    },
  ] as const;
  const metrics = new Metrics();
  for (const { call, metric, value, labels } of samples) metrics[call](metric, value, labels);
  return { samples, printed: String(metrics).split('\n'), prometheus: prometheusText(metrics).split('\n') };
}
