import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AlertRulesOptions, alertRules } from '../src/index.ts';

const run = promisify(execFile);
const promtool = (...args: string[]): Promise<{ stdout: string }> =>
  run(process.env['PROMTOOL_PROGRAM'] ?? 'promtool', args);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backlog-rules-'));
});
afterAll(() => rm(folder, { recursive: true }));

let files = 0;

/** The numbers of a night, 15 s apart, and which alerts there are at a moment. */
interface Night {
  readonly options?: AlertRulesOptions;
  /** In promtool's notation: `0+9x20` is twenty readings, each 9 more. */
  readonly series: Readonly<Record<string, string>>;
  readonly at: string;
  readonly alert: string;
  /** The labels and the summary of each that fires. */
  readonly fires: readonly { readonly labels?: Readonly<Record<string, string>>; readonly summary: string }[];
}

async function holds({ options, series, at, alert, fires }: Night): Promise<void> {
  files += 1;
  const rules = join(folder, `rules-${files}.yml`);
  const test = join(folder, `test-${files}.yml`);
  await writeFile(rules, alertRules(options));
  await writeFile(
    test,
    JSON.stringify({
      rule_files: [rules],
      evaluation_interval: '15s',
      tests: [
        {
          interval: '15s',
          input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
          alert_rule_test: [
            {
              eval_time: at,
              alertname: alert,
              exp_alerts: fires.map(({ labels, summary }) => ({
                exp_labels: { severity: 'page', ...labels },
                exp_annotations: { summary },
              })),
            },
          ],
        },
      ],
    }),
  );
  await promtool('test', 'rules', test).catch((error: { stdout?: string; stderr?: string }) => {
    throw new Error(`${error.stdout}${error.stderr}`);
  });
}

const AGE = 'jobs_oldest_age_seconds{kind="render_tickets"}';
const summary = (age: number): string =>
  `render_tickets oldest job ${age}s old: add workers or find the slow dependency`;

it('is a rule file that Prometheus reads', async () => {
  const file = join(folder, 'all.yml');
  for (const options of [{}, { kinds: ['a.b', 'x"y\\'], namespace: 'shop', labels: { stream: 'jobs' } }]) {
    await writeFile(file, alertRules(options));
    expect((await promtool('check', 'rules', file)).stdout).toContain('4 rules found');
  }
});

describe('JobsBacklogAge', () => {
  // alert: JobsBacklogAge, expr: jobs_oldest_age_seconds > 60, for: 1m
  const growing = { [AGE]: '0+9x40' };

  it('fires when the oldest job was older than a minute for a minute', async () => {
    // 9 s of age every 15 s: 63 at 1m45s, and a minute later it is a page.
    await holds({ series: growing, at: '2m30s', alert: 'JobsBacklogAge', fires: [] });
    const fires = [{ labels: { kind: 'render_tickets' }, summary: summary(99) }];
    await holds({ series: growing, at: '2m45s', alert: 'JobsBacklogAge', fires });
  });

  it('a single slow render does not page', async () => {
    // "sustained for a minute so that a single slow render does not page"
    await holds({ series: { [AGE]: '0+15x6 0x20' }, at: '2m', alert: 'JobsBacklogAge', fires: [] });
  });

  it('ends when the age has turned', async () => {
    await holds({
      series: { [AGE]: '70x20 50x20' },
      at: '5m',
      alert: 'JobsBacklogAge',
      fires: [{ labels: { kind: 'render_tickets' }, summary: summary(70) }],
    });
    await holds({ series: { [AGE]: '70x20 50x20' }, at: '6m', alert: 'JobsBacklogAge', fires: [] });
  });

  it('depth alone never fires', async () => {
    // "the alert: on age, per kind, never on depth"
    await holds({
      series: { 'jobs_depth{kind="render_tickets"}': '12000x40', [AGE]: '2.4x40' },
      at: '9m',
      alert: 'JobsBacklogAge',
      fires: [],
    });
  });

  it('two exporters page once, with the greater age', async () => {
    await holds({
      series: {
        'jobs_oldest_age_seconds{kind="render_tickets",instance="a"}': '80x20',
        'jobs_oldest_age_seconds{kind="render_tickets",instance="b"}': '81x20',
      },
      at: '3m',
      alert: 'JobsBacklogAge',
      fires: [{ labels: { kind: 'render_tickets' }, summary: summary(81) }],
    });
  });

  it('is silent where the age is not known', async () => {
    await holds({
      series: { [AGE]: `70x2 ${'NaN '.repeat(20)}` },
      at: '5m',
      alert: 'JobsBacklogAge',
      fires: [],
    });
  });

  it('asks about the kinds, the labels and the namespace that it was given', async () => {
    const options = {
      kinds: ['a.b'],
      labels: { stream: 'jobs' },
      namespace: 'shop',
      threshold: '10s',
    } as const;
    await holds({
      options,
      series: {
        'shop_jobs_oldest_age_seconds{kind="a.b",stream="jobs"}': '11x20',
        'shop_jobs_oldest_age_seconds{kind="axb",stream="jobs"}': '11x20',
        'shop_jobs_oldest_age_seconds{kind="a.b",stream="mails"}': '11x20',
      },
      at: '3m',
      alert: 'JobsBacklogAge',
      fires: [
        {
          labels: { kind: 'a.b', stream: 'jobs' },
          summary: 'a.b oldest job 11s old: add workers or find the slow dependency',
        },
      ],
    });
  });
});

it('JobsDead fires even at 1, and ends when the dead are gone', async () => {
  // "The length of jobs:dead rising is a code bug on a class of jobs, and it is a page even at 1."
  const series = { jobs_dead_length: '0x4 1x4 0x8' };
  const words = (n: number): string =>
    `${n} jobs were given up: a code bug on a class of jobs, read the reasons on the dead ones`;
  await holds({ series, at: '45s', alert: 'JobsDead', fires: [] });
  await holds({ series, at: '2m', alert: 'JobsDead', fires: [{ summary: words(1) }] });
  await holds({ series, at: '3m', alert: 'JobsDead', fires: [] });
});

describe('JobsBacklogUnread', () => {
  const alert = 'JobsBacklogUnread';
  const read = 'jobs_backlog_read_timestamp_seconds';
  const fires = [{ summary: 'nobody can read the backlog: the alert on age is silent until somebody can' }];

  it('is silent while readings come, and over a single error', async () => {
    const series = { [read]: '0+15x80', jobs_backlog_errors_total: '0x20 1x60' };
    await holds({ series, at: '4m', alert, fires: [] });
    await holds({ series, at: '6m', alert, fires: [] });
    await holds({ series, at: '7m', alert, fires: [] });
  });

  it('fires when errors rise, also over a restart of the counter', async () => {
    await holds({
      series: { [read]: '0+15x80', jobs_backlog_errors_total: '0+1x40' },
      at: '5m',
      alert,
      fires,
    });
    await holds({
      series: { [read]: '0+15x80', jobs_backlog_errors_total: '7+1x10 0+1x20' },
      at: '4m',
      alert,
      fires,
    });
  });

  it('fires when there was no good reading for two minutes, and ends with the next', async () => {
    const series = { [read]: '0+15x4 60x16 300+15x40' };
    await holds({ series, at: '2m', alert, fires: [] });
    await holds({ series, at: '5m15s', alert, fires });
    await holds({ series, at: '7m', alert, fires: [] });
  });

  it('one queue that is read does not hide another that is not', async () => {
    const series = {
      [`${read}{stream="jobs",instance="a"}`]: '0+0x40',
      [`${read}{stream="jobs",instance="b"}`]: '0+0x40',
      [`${read}{stream="mails",instance="a"}`]: '0+15x40',
    };
    const summary = fires[0]?.summary ?? '';
    await holds({ series, at: '6m', alert, fires: [{ labels: { stream: 'jobs' }, summary }] });
  });

  it('fires when no exporter is there at all', async () => {
    await holds({
      series: { up: '1x40' },
      at: '5m',
      alert,
      fires: [{ ...fires[0], summary: fires[0]?.summary ?? '' }],
    });
  });
});

describe('OutboxStopped', () => {
  const alert = 'OutboxStopped';
  const age = 'jobs_oldest_age_seconds{kind="orders/placed"}';
  const published = 'acemq_outbox_total{outcome="published",exchange="orders",routing_key="placed"}';
  const fires = (seconds: number): Night['fires'] => [
    {
      summary: `the oldest owed record is ${seconds}s old and nothing is published: look at the relay and the broker`,
    },
  ];

  it('fires when the oldest owed row is older than a minute and nothing is published', async () => {
    await holds({ series: { [age]: '0+15x40', [published]: '500x40' }, at: '3m', alert, fires: fires(180) });
    await holds({ series: { [age]: '0+15x40' }, at: '3m', alert, fires: fires(180) });
  });

  it('is silent while records leave, also over a restart of the counter, and for a stream', async () => {
    await holds({ series: { [age]: '90x40', [published]: '0+5x40' }, at: '3m', alert, fires: [] });
    await holds({ series: { [age]: '90x40', [published]: '70+5x10 0+5x40' }, at: '3m', alert, fires: [] });
    await holds({ series: { [AGE]: '90x40' }, at: '3m', alert, fires: [] });
  });
});

it.for([
  [{ kinds: [] }, 'kinds must be a list of at least one text'],
  [{ namespace: 'a-b' }, 'namespace must be letters, digits and underscores, not "a-b"'],
  [{ threshold: 0 }, 'threshold must be at least 1ms'],
  [{ limit: 1 }, 'alertRules has no option "limit"'],
] as const)('refuses %o', ([options, words]) => {
  expect(() => alertRules(options as unknown as AlertRulesOptions)).toThrow(words);
});
