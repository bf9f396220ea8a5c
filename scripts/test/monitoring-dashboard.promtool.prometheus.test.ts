import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PrometheusServer } from '@acemq/prometheus-server';
import { startPrometheus } from '@acemq/prometheus-server';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Naming } from '../monitoring/catalogue.mjs';
import { metrics, namesOf, spellings } from '../monitoring/catalogue.mjs';
import { rows } from '../monitoring/panels.mjs';

const folder = mkdtempSync(join(tmpdir(), 'monitoring-dashboard-'));
const running: { readonly servers: Server[]; prometheus?: PrometheusServer } = { servers: [] };

/** An expression with what Grafana puts for its variables. */
function asAsked(expression: string, job = '.*'): string {
  return expression
    .replaceAll('$__rate_interval', '10s')
    .replaceAll('$__range', '1m0s')
    .replaceAll('$namespace', '.*')
    .replaceAll('$job', job)
    .replaceAll('$queue', '.*');
}

const namings: readonly Naming[] = [
  { spelling: 'all' },
  ...spellings.map((spelling) => ({ spelling })),
  { spelling: 'all', namespace: 'checkout' },
];

const panels = rows.flatMap((row) =>
  row.panels.map((panel) => ({ title: `${row.title}: ${panel.title}`, panel })),
);

/** A page with every metric, whose numbers grow with each scrape. */
function page(naming: Naming, scrapes: number): string {
  return Object.entries(metrics)
    .flatMap(([metric, { kind, labels, values }]) => {
      const [name = ''] = namesOf(metric, naming);
      // Of each closed list every value: a panel may ask for one of them.
      const [[closed, list] = ['', ['']]] = Object.entries(values);
      return list.flatMap((value) => {
        const block = labels
          .map((label) => `${label.replaceAll('.', '_')}="${label === closed ? value : 'a'}"`)
          .join(',');
        if (kind !== 'distribution') return [`${name}{${block}} ${scrapes}`];
        return [`${name}_count{${block}} ${scrapes}`, `${name}_sum{${block}} ${scrapes * 2}`];
      });
    })
    .map((line) => `${line}\n`)
    .join('');
}

async function serve(naming: Naming): Promise<string> {
  let scrapes = 0;
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/plain; version=0.0.4');
    response.end(page(naming, ++scrapes));
  });
  running.servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

beforeAll(async () => {
  const targets = await Promise.all(
    spellings.map(async (spelling) => ({ job: spelling, address: await serve({ spelling }) })),
  );
  running.prometheus = await startPrometheus({
    targets,
    ruleFiles: [new URL('../../docs/alerts/acemq.rules.yml', import.meta.url).pathname],
  });
});

afterAll(async () => {
  await running.prometheus?.close();
  for (const server of running.servers) server.close();
  rmSync(folder, { recursive: true });
});

test('every expression of the dashboard is one that promtool reads', () => {
  const rules = namings.flatMap((naming) =>
    panels.map(({ panel }) => ({ record: 'panel', expr: asAsked(panel.expression(naming)) })),
  );
  expect(JSON.stringify(rules)).not.toContain('$');
  const file = join(folder, 'panels.json');
  // One group each, since a group refuses two rules of one name.
  writeFileSync(
    file,
    JSON.stringify({
      groups: rules.map((rule, index) => ({
        name: `${index}`,
        rules: [{ ...rule, record: `panel:number_${index}` }],
      })),
    }),
  );
  const said = execFileSync(process.env['PROMTOOL_PROGRAM'] ?? 'promtool', ['check', 'rules', file], {
    encoding: 'utf8',
  });
  expect(said).toContain(`SUCCESS: ${rules.length} rules found`);
});

describe.for(spellings)('of a service that is scraped as %s', (job) => {
  test.for(panels.map(({ title, panel }) => [title, panel] as const))(
    '"%s" shows data',
    { timeout: 60_000 },
    async ([, panel]) => {
      const asked = asAsked(panel.expression({ spelling: 'all' }), job);
      const samples = await running.prometheus?.until(asked, (found) =>
        found.some(({ value }) => Number.isFinite(value) && value > 0),
      );
      expect(samples).not.toEqual([]);
    },
  );
});

test('the rules of the repository are evaluated, and see what goes wrong in every spelling', async () => {
  const firing = await running.prometheus?.until(
    'count by (job) (ALERTS{alertname="AceMQRungMissing",alertstate="firing"})',
    (found) => found.length === spellings.length,
  );
  expect(firing?.map(({ labels }) => labels['job']).toSorted()).toEqual(spellings.toSorted());
});
