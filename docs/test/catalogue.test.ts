import * as core from '@acemq/core';
import {
  AbortedError,
  type AceMQError,
  BatchPublishError,
  BrokerRefusedError,
  ConfigurationError,
  ConnectError,
  ConnectionClosedError,
  ConnectionLostError,
  DecodeError,
  EncodeError,
  type ErrorCode,
  FatalError,
  PublishError,
  PublishingPausedError,
  ReplayError,
  RequestTimeoutError,
  ResponderError,
  TimeoutError,
  TopologyError,
  UnsupportedError,
} from '@acemq/core';
import { METRICS } from '@acemq/observe';
import { describe, expect, test } from 'vitest';
import { code, guides, pageText, prose, rows, section } from './page.ts';

const difference = { kind: 'queue', name: 'q', argument: 'durable', wanted: 'true', found: 'false' } as const;

/** One error a code. The compiler refuses this table when a code is missing from it, or is none. */
const ERRORS: Readonly<Record<ErrorCode, AceMQError>> = {
  ACEMQ_CONFIGURATION: new ConfigurationError(''),
  ACEMQ_UNSUPPORTED: new UnsupportedError(''),
  ACEMQ_TOPOLOGY: new TopologyError(''),
  ACEMQ_TOPOLOGY_DRIFT: new TopologyError('', { differences: [difference] }),
  ACEMQ_CONNECT_FAILED: new ConnectError(''),
  ACEMQ_CONNECT_REFUSED: new ConnectError('', { refused: true }),
  ACEMQ_CONNECTION_LOST: new ConnectionLostError(''),
  ACEMQ_CONNECTION_CLOSED: new ConnectionClosedError(''),
  ACEMQ_BROKER_REFUSED: new BrokerRefusedError(404, ''),
  ACEMQ_TIMEOUT: new TimeoutError(''),
  ACEMQ_ABORTED: new AbortedError(''),
  ACEMQ_PUBLISH_FAILED: new PublishError(''),
  ACEMQ_PUBLISH_UNROUTABLE: new PublishError('', { code: 'ACEMQ_PUBLISH_UNROUTABLE' }),
  ACEMQ_PUBLISH_NACKED: new PublishError('', { code: 'ACEMQ_PUBLISH_NACKED', retryable: true }),
  ACEMQ_PUBLISH_TIMEOUT: new PublishError('', { code: 'ACEMQ_PUBLISH_TIMEOUT', retryable: true }),
  ACEMQ_PUBLISH_LOST: new PublishError('', { code: 'ACEMQ_PUBLISH_LOST', retryable: true }),
  ACEMQ_PUBLISH_BATCH: new BatchPublishError([new EncodeError('')]),
  ACEMQ_PUBLISHING_PAUSED: new PublishingPausedError(''),
  ACEMQ_ENCODE: new EncodeError(''),
  ACEMQ_DECODE: new DecodeError(''),
  ACEMQ_FATAL: new FatalError(''),
  ACEMQ_REQUEST_TIMEOUT: new RequestTimeoutError(''),
  ACEMQ_RESPONDER: new ResponderError(''),
  ACEMQ_REPLAY: new ReplayError(''),
};

/** The values of exported constants whose names start so. */
function constants(prefix: string): string[] {
  const values: unknown[] = Object.entries(core)
    .filter(([name]) => name.startsWith(prefix))
    .map(([, value]) => value);
  return values.map(String);
}

const sorted = (words: Iterable<string>): string[] => [...new Set(words)].sort();

describe('errors.md', () => {
  const table = rows(prose('docs/errors.md'), 'Code');
  const documented = new Map(table.map(([name = '', ...cells]) => [code(name)[0] ?? '', cells]));

  test('its table has every code, and no other', () => {
    expect(sorted(documented.keys())).toEqual(sorted(Object.keys(ERRORS)));
  });

  test('every code has a section of its own', () => {
    const headings = [...prose('docs/errors.md').matchAll(/^### `(ACEMQ_\w+)`$/gm)].map(
      ([, name]) => name ?? '',
    );
    expect(sorted(headings)).toEqual(sorted(Object.keys(ERRORS)));
  });

  test.for(Object.entries(ERRORS))(
    '%s is of the class and as retryable as the table says',
    ([name, error]) => {
      const [className = '', retryable] = documented.get(name) ?? [];
      expect(error.code).toBe(name);
      expect(code(className)).toEqual([error.name]);
      if (retryable !== 'sometimes') expect(retryable).toBe(error.retryable ? 'yes' : 'no');
    },
  );
});

test('no page names an error code that does not exist', () => {
  for (const file of guides) {
    const named = [...prose(file).matchAll(/`(ACEMQ_[A-Z_]+)`/g)].map(([, name]) => name);
    for (const name of named) expect(Object.keys(ERRORS), file).toContain(name);
  }
});

describe('metrics.md', () => {
  const table = rows(prose('docs/metrics.md'), 'Metric');
  const documented = new Map(table.map(([name = '', ...cells]) => [code(name)[0] ?? '', cells]));

  test('its table has every metric, and no other', () => {
    expect(sorted(documented.keys())).toEqual(sorted(METRICS.map(({ name }) => name)));
  });

  test.for(METRICS.map((metric) => [metric.name, metric] as const))(
    '%s has the kind, unit and labels that the table says',
    ([name, metric]) => {
      const [kind, unit, labels = ''] = documented.get(name) ?? [];
      expect([kind, unit, code(labels)]).toEqual([metric.kind, metric.unit, metric.labels]);
    },
  );

  test('the outcomes of publishes and deliveries, and the places of a retry, are its tables', () => {
    const text = section('docs/metrics.md', '## Outcomes');
    const valuesOf = (metric: string, label: string): readonly string[] =>
      METRICS.find(({ name }) => name === metric)?.values[label] ?? [];
    const first = (row: string[]): string => code(row[0] ?? '')[0] ?? '';
    expect(sorted(rows(text, '`outcome`').map(first))).toEqual(
      sorted([...valuesOf('acemq.publish.total', 'outcome'), ...valuesOf('acemq.consume.total', 'outcome')]),
    );
    expect(sorted(rows(text, '`where`').map(first))).toEqual(
      sorted(valuesOf('acemq.messages.retried.total', 'where')),
    );
  });

  test('every other value that a label may have is named', () => {
    const named = ['## Outcomes', '## Reserved names'].flatMap((heading) =>
      code(section('docs/metrics.md', heading)),
    );
    for (const { values } of METRICS)
      for (const list of Object.values(values)) expect(named).toEqual(expect.arrayContaining([...list]));
  });
});

test('no page names a metric that does not exist', () => {
  const names = METRICS.map(({ name }) => name);
  for (const file of guides) {
    const named = [...prose(file).matchAll(/`(acemq\.(?!retry`|dlx`)[a-z.]*[a-z])(?:\{[^`]*\})?`/g)].map(
      ([, name]) => name ?? '',
    );
    // A name may stand for its group: acemq.publish is acemq.publish.total and acemq.publish.duration.
    for (const name of named) {
      expect(
        names.some((one) => one === name || one.startsWith(`${name}.`)),
        `${file}: ${name}`,
      ).toBe(true);
    }
  }
});

test('metrics.md names no metric of Prometheus that does not exist', () => {
  const exposed = METRICS.flatMap(({ name, kind }) => {
    const plain = name.replaceAll('.', '_');
    return kind === 'distribution' ? [`${plain}_count`, `${plain}_sum`] : [plain];
  });
  const named = [...pageText('docs/metrics.md').matchAll(/\bacemq_[a-z_]+/g)].map(([name]) => name);
  expect(named.length).toBeGreaterThan(3);
  for (const name of named) expect(exposed).toContain(name);
});

test('envelope-and-headers.md has every header that the library knows, and no other', () => {
  const text = prose('docs/envelope-and-headers.md');
  const headers = [
    ...rows(text, 'Field').map(([, header = '']) => code(header)[0] ?? ''),
    ...rows(text, 'Header').map(([header = '']) => code(header)[0] ?? ''),
  ];
  expect(sorted(headers.filter((name) => name !== '' && name !== core.RESERVED_PREFIX))).toEqual(
    sorted(constants('HEADER_')),
  );
});
