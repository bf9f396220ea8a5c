import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { BACKLOG_METRICS, prometheusName } from '../src/index.ts';

it('the metrics of a backlog are those of the contract', () => {
  const { metrics } = JSON.parse(
    readFileSync(new URL('../../../contract-fixtures/backlog.json', import.meta.url), 'utf8'),
  );
  const held = BACKLOG_METRICS.map(({ name, kind, unit, labels, help }) => [
    name,
    { kind, unit, labels, help },
  ]);
  expect(Object.fromEntries(held)).toEqual(metrics);
});

it.each(BACKLOG_METRICS)(
  '$name stands on a dashboard as it is written, and ends as its kind asks',
  ({ name, kind }) => {
    expect(prometheusName(name)).toBe(name);
    expect(name.endsWith('_total')).toBe(kind === 'counter');
  },
);

// jobs_depth{kind="render_tickets"}                300      # lag + pending, by kind
// jobs_oldest_age_seconds{kind="render_tickets"}    61       # now - timestamp of the oldest unfinished id
// jobs_completed_total{kind="render_tickets"}       200      # a counter; the dashboard draws its rate: 2/s
// jobs_dead_length                                   0        # XLEN jobs:dead
it.each([
  ['jobs_depth', ['kind']],
  ['jobs_oldest_age_seconds', ['kind']],
  ['jobs_completed_total', ['kind']],
  ['jobs_dead_length', []],
])('%s has the labels of the seed', (name, labels) => {
  expect(BACKLOG_METRICS.find((one) => one.name === name)?.labels).toEqual(labels);
});
