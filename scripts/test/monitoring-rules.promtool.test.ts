import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { alerts } from '../monitoring/alerts.mjs';
import type { Naming, Spelling } from '../monitoring/catalogue.mjs';
import { namesOf, spellings } from '../monitoring/catalogue.mjs';
import { rulesText } from '../monitoring/rules.mjs';
import type { Case, Input } from './monitoring-cases.ts';
import { ABSENT, CASES, idle } from './monitoring-cases.ts';

const DOCS = 'https://example.test/alerts.md';
const INSTANCE = 'shop-1:9464';
const SCOPE = { otel_scope_name: 'org.acemq.amqp', otel_scope_version: '1.2.3' };

const folder = mkdtempSync(join(tmpdir(), 'monitoring-rules-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs promtool to its end. */
function promtool(...args: readonly string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    execFile(process.env['PROMTOOL_PROGRAM'] ?? 'promtool', args, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), output: stdout + stderr });
    });
  });
}

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

function addedBy(spelling: Spelling): Record<string, string> {
  return spelling === 'opentelemetry' ? SCOPE : {};
}

/** One series as promtool is given it. */
function asGiven(
  { metric, part, labels, instance = INSTANCE, values }: Input,
  spelling: Spelling,
  namespace?: string,
): object {
  const [name = ''] = namesOf(metric, { spelling, ...(namespace === undefined ? {} : { namespace }) });
  const all = { job: 'shop', instance, ...labels, ...addedBy(spelling) };
  const block = Object.entries(all).map(([label, value]) => `${label}=${JSON.stringify(value)}`);
  return {
    series: `${name}${part ?? ''}{${block.join(',')}}`,
    values: values.map((value) => value ?? '_').join(' '),
  };
}

/** A template with what a case says about the alert. */
function filled(template: string, labels: Readonly<Record<string, string>>, value = ''): string {
  return template
    .replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => labels[label] ?? '')
    .replaceAll(/\{\{ \$value [^}]*\}\}/g, value);
}

function group(alert: (typeof alerts)[number], one: Case, spelling: Spelling, namespace?: string): object {
  return {
    name: one.title,
    interval: '1m',
    input_series: one.series.map((series) => asGiven(series, spelling, namespace)),
    alert_rule_test: one.expected.map(({ minute, fires }) => ({
      eval_time: `${minute}m`,
      alertname: alert.name,
      exp_alerts: fires.map(({ labels, value }) => {
        const ofAProcess = 'instance' in labels ? addedBy(spelling) : {};
        const all: Record<string, string> = { job: 'shop', ...labels, ...ofAProcess };
        return {
          exp_labels: { ...all, severity: alert.severity },
          exp_annotations: {
            summary: filled(alert.summary, all, value),
            description: `${filled(alert.description, all, value)} More: ${DOCS}#${alert.name.toLowerCase()}`,
          },
        };
      }),
    })),
  };
}

const namings: readonly (Naming & { readonly title: string; readonly written: Spelling })[] = [
  ...spellings.map((written) => ({ title: `for ${written}`, spelling: written, written })),
  ...spellings.map((written) => ({
    title: `for all spellings, with ${written} series`,
    spelling: 'all' as const,
    written,
  })),
  { title: 'with a namespace', spelling: 'all', written: 'text', namespace: 'checkout' },
];

/** What promtool said, by what it was given: most metrics have one name, so that many spellings are one case. */
const said = new Map<string, ReturnType<typeof promtool>>();

/** Tries one rule, in a file without the others, which would be evaluated as well. */
function tried(rule: string, tests: readonly object[]): ReturnType<typeof promtool> {
  const key = JSON.stringify([rule, tests]);
  let result = said.get(key);
  if (result === undefined) {
    const rules = write(`${said.size}.rules.yml`, `groups:\n  - name: acemq\n    rules:\n${rule}`);
    // JSON is YAML.
    const file = write(
      `${said.size}.test.json`,
      JSON.stringify({ rule_files: [rules], evaluation_interval: '1m', tests }),
    );
    result = promtool('test', 'rules', file);
    said.set(key, result);
  }
  return result;
}

describe.for(namings)('the rules $title', ({ title, written, spelling, namespace }) => {
  const naming: Naming = { spelling, ...(namespace === undefined ? {} : { namespace }) };
  const text = rulesText({ ...naming, docs: DOCS });
  const [, ...rules] = text.split(/^(?= {6}- alert: )/m);

  test('are rules', async () => {
    const { code, output } = await promtool('check', 'rules', write(`${title}.rules.yml`, text));
    expect(code, output).toBe(0);
    expect(output).toContain(`SUCCESS: ${alerts.length} rules found`);
  });

  test.for(alerts.map((alert, index) => [alert.name, alert, rules[index] ?? ''] as const))(
    '%s',
    async ([, alert, rule]) => {
      const cases = CASES[alert.name] ?? [];
      const all = [...cases, idle(cases), ABSENT];
      const { code, output } = await tried(
        rule,
        all.map((one) => group(alert, one, written, namespace)),
      );
      expect(code, output).toBe(0);
    },
  );
});

test('the rule that docs/alerts.md shows is one', async () => {
  const page = readFileSync(new URL('../../docs/alerts.md', import.meta.url), 'utf8');
  const [, shown = ''] = /^```yaml\n([\s\S]*?)^```$/m.exec(page) ?? [];
  const rule = shown.replaceAll(/^/gm, '      ').trimEnd();
  const file = write('shown.rules.yml', `groups:\n  - name: shown\n    rules:\n${rule}\n`);
  const { code, output } = await promtool('check', 'rules', file);
  expect(code, output).toBe(0);
  expect(output).toContain('SUCCESS: 1 rules found');
});

test('every alert is tried when it fires, when nothing happens, and across a restart', () => {
  expect(Object.keys(CASES)).toEqual(alerts.map(({ name }) => name));
  for (const cases of Object.values(CASES)) {
    expect(cases.map(({ what }) => what)).toEqual(expect.arrayContaining(['fires', 'reset']));
    expect(idle(cases).series.length).toBeGreaterThan(0);
  }
});
