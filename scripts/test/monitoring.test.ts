import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { alerts } from '../monitoring/alerts.mjs';
import { metrics, namesOf, spellings } from '../monitoring/catalogue.mjs';
import { dashboardText } from '../monitoring/dashboard.mjs';
import { answer, committed } from '../monitoring/generate.mjs';
import { rows } from '../monitoring/panels.mjs';
import { rulesText } from '../monitoring/rules.mjs';

const read = (file: string): string => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
const page = read('docs/alerts.md');

test.for(committed.map(({ file, text }) => [file, text] as const))(
  '%s is what is generated',
  ([file, text]) => {
    expect(read(file)).toBe(text());
  },
);

/** Every name of ours in a text. */
function named(text: string): string[] {
  return [...new Set(text.match(/\b(?:\w+_)?acemq_\w+/g) ?? [])];
}

/** The names of the samples that every body has: no buckets. */
const samples = Object.entries(metrics).flatMap(([metric, { kind }]) =>
  namesOf(metric, { spelling: 'all' }).flatMap((name) =>
    kind === 'distribution' ? [`${name}_count`, `${name}_sum`] : [name],
  ),
);

describe('the rules', () => {
  test('ask only for series that every body has', () => {
    const text = alerts.map(({ expression }) => expression({ spelling: 'all' })).join('\n');
    expect(named(text).length).toBeGreaterThan(10);
    for (const name of named(text)) expect(samples).toContain(name);
  });

  test.for(alerts.map((alert) => [alert.name, alert] as const))(
    '%s has a section that its text leads to',
    ([name, { summary, description }]) => {
      expect(page).toContain(`\n### ${name}\n`);
      expect(summary).not.toBe('');
      expect(description).not.toBe('');
      expect(rulesText({ spelling: 'all', docs: 'docs/alerts.md' })).toMatch(
        new RegExp(`More: docs/alerts\\.md#${name.toLowerCase()}["']$`, 'm'),
      );
    },
  );

  test('the page has a section for no other', () => {
    const headings = [...page.matchAll(/^### (AceMQ\w+)$/gm)].map(([, name]) => name);
    expect(headings.toSorted()).toEqual(alerts.map(({ name }) => name).toSorted());
  });
});

test('the page lists the names that are not spelled the same everywhere', () => {
  for (const [metric, { kind }] of Object.entries(metrics)) {
    const names = namesOf(metric, { spelling: 'all' });
    if (names.length === 1) continue;
    const row = page.split('\n').find((line) => line.startsWith(`| \`${metric}\``)) ?? '';
    for (const spelling of spellings) {
      const [name = ''] = namesOf(metric, { spelling });
      expect(row, `${metric}, ${kind}`).toContain(`\`${name}\``);
    }
  }
});

test('the page names no metric of Prometheus that does not exist', () => {
  const families = Object.keys(metrics).flatMap((metric) => namesOf(metric, { spelling: 'all' }));
  for (const name of page.match(/\bacemq_[a-z_]+/g) ?? []) expect([...families, ...samples]).toContain(name);
});

describe('the command', () => {
  test('spells for one and puts a namespace before every name', () => {
    const text = answer(['rules', '--spelling', 'openmetrics', '--namespace', 'checkout']);
    expect(text).toContain('increase(checkout_acemq_retry_rung_missing_total[10m])');
    expect(text).not.toContain('acemq_retry_rung_missing[');
    expect(answer(['rules', '--spelling', 'text'])).not.toContain('acemq_retry_rung_missing_total');
    expect(answer(['rules', '--docs', 'https://example.test/a'])).toContain(
      'More: https://example.test/a#acemqrungmissing"',
    );
    expect(answer(['dashboard', '--namespace', 'checkout'])).toContain('checkout_acemq_outbox_lag_sum');
  });

  test('says how it is used', () => {
    const help = answer(['--help']);
    for (const spelling of [...spellings, 'all']) expect(help).toContain(`${spelling} `);
  });

  test.for([
    [[], 'Say rules or dashboard.'],
    [['alerts'], 'not "alerts"'],
    [['rules', 'dashboard'], 'not "rules dashboard"'],
    [['rules', '--spelling', 'micrometer'], 'not "micrometer"'],
    [['rules', '--namespace', 'my-shop'], 'not "my-shop"'],
    [['rules', '--namespace', ''], 'not ""'],
    [['rules', '--write'], '--write'],
    [['rules', '--unknown'], '--unknown'],
  ] as const)('refuses %j', ([args, words]) => {
    expect(() => answer(args)).toThrow(words);
  });
});

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly fieldConfig?: { readonly defaults: { readonly unit: string } };
  readonly targets?: readonly { readonly expr: string }[];
}

describe('the dashboard', () => {
  const dashboard = JSON.parse(dashboardText({ spelling: 'all' })) as {
    readonly schemaVersion: number;
    readonly uid: string;
    readonly templating: { readonly list: readonly { readonly name: string }[] };
    readonly panels: readonly Panel[];
  };
  const drawn = dashboard.panels.filter(({ type }) => type !== 'row');

  test('is one that Grafana imports', () => {
    expect(dashboard.schemaVersion).toBe(39);
    expect(dashboard.uid).toBe('acemq');
    expect(dashboard.templating.list.map(({ name }) => name)).toEqual([
      'datasource',
      'namespace',
      'job',
      'queue',
    ]);
    expect(dashboard.panels).toHaveLength(rows.length + rows.flatMap(({ panels }) => panels).length);
  });

  test('has panels with ids of their own, none on top of another', () => {
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
    const taken = new Set<string>();
    for (const { title, gridPos } of dashboard.panels) {
      expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect(taken.has(`${x},${y}`), title).toBe(false);
          taken.add(`${x},${y}`);
        }
      }
    }
  });

  test('says of every panel what its number means and its unit', () => {
    for (const { title, description, fieldConfig } of drawn) {
      expect(description, title).toMatch(/\.$/);
      expect(fieldConfig?.defaults.unit, title).toMatch(/^(short|s|mps|reqps|recps|ops)$/);
    }
  });

  test.for(Object.keys(metrics))('has a panel for %s', (metric) => {
    const names = namesOf(metric, { spelling: 'all' });
    const shown = named(drawn.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)).join('\n'));
    for (const name of names) expect(shown.map((one) => one.replace(/_(count|sum)$/, ''))).toContain(name);
  });

  test('asks only for series that every body has', () => {
    for (const { targets = [] } of drawn)
      for (const { expr } of targets) for (const name of named(expr)) expect(samples).toContain(name);
  });
});
