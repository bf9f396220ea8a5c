import { readFileSync } from 'node:fs';
import { BACKLOG_METRICS } from '@acemq/observe';
import { expect, it } from 'vitest';

interface Panel {
  readonly title: string;
  readonly type: string;
  readonly targets: readonly { readonly expr: string }[];
}

const { panels } = JSON.parse(
  readFileSync(new URL('../../../docs/dashboards/backlog.json', import.meta.url), 'utf8'),
) as { panels: readonly Panel[] };

it('the dashboard has the three lines, by kind', () => {
  const lines = panels.filter(({ type }) => type === 'timeseries').map(({ targets }) => targets[0]?.expr);
  expect(lines).toEqual([
    'max by (kind) (jobs_oldest_age_seconds)',
    'max by (kind) (jobs_depth)',
    'sum by (kind) (rate(jobs_completed_total[1m]))',
  ]);
});

it('it names no metric that does not exist', () => {
  const names = BACKLOG_METRICS.map(({ name }) => name);
  const named = panels.flatMap(({ targets }) =>
    targets.flatMap(({ expr }) => expr.match(/\bjobs_\w+/g) ?? []),
  );
  expect(named.length).toBeGreaterThanOrEqual(4);
  for (const name of named) expect(names).toContain(name);
});

it('every metric is data that cannot be changed', () => {
  for (const metric of BACKLOG_METRICS) {
    expect(Object.isFrozen(metric)).toBe(true);
    expect(metric.help).toMatch(/\.$/);
    expect(metric.name.endsWith('_total')).toBe(metric.kind === 'counter');
  }
});
