import { ConfigurationError, checkOptions, type Duration, milliseconds, shown } from '@acemq/core';
import {
  METRIC_BACKLOG_ERRORS,
  METRIC_BACKLOG_READ_TIMESTAMP,
  METRIC_JOBS_DEAD_LENGTH,
  METRIC_JOBS_OLDEST_AGE,
} from '@acemq/observe';
import { constantLabels } from './constant-labels.ts';

/** What the rules of `alertRules` ask about. */
export interface AlertRulesOptions {
  /** How old the oldest job of a kind may be; 60 s by default. */
  readonly threshold?: Duration;
  /** The kinds that page. All by default. */
  readonly kinds?: readonly string[];
  /** What stands before the names of the metrics, with an underscore in between. Nothing by default. */
  readonly namespace?: string;
  /** The constant labels of the exporters that are asked about, such as `{ stream: 'jobs' }`. None by default. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** The exporters of one queue together, those of different queues, by their constant labels, apart. */
const PER_QUEUE = 'without (instance, pod)';

/**
 * A rule file for Prometheus: the oldest job, the dead, a backlog that nobody can read, and an outbox that has stopped. It can
 * be written to a file as it is.
 *
 * Every rule takes the maximum over all exporters, so that two of them do not page twice.
 *
 * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) for an option that is unknown or cannot be used.
 */
export function alertRules(options: AlertRulesOptions = {}): string {
  checkOptions(options, ['threshold', 'kinds', 'namespace', 'labels'], 'alertRules');
  const threshold = milliseconds(options.threshold ?? '60s', 'threshold', { min: 1 }) / 1000;
  const labels = constantLabels(options.labels);
  const prefix = prefixOf(options.namespace);
  const constant = Object.entries(labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  const metric = (name: string, ...matchers: string[]): string => {
    const all = [...constant, ...matchers];
    return all.length === 0 ? `${prefix}${name}` : `${prefix}${name}{${all.join(',')}}`;
  };
  const age = (...matchers: string[]): string => metric(METRIC_JOBS_OLDEST_AGE, ...matchers);
  const byKind = ['kind', ...Object.keys(labels)].join(', ');
  const read = metric(METRIC_BACKLOG_READ_TIMESTAMP);
  return file([
    {
      alert: 'JobsBacklogAge',
      expr: `max by (${byKind}) (${age(...kindMatchers(options.kinds))}) > ${threshold}`,
      for: '1m',
      summary: '{{ $labels.kind }} oldest job {{ $value }}s old: add workers or find the slow dependency',
    },
    {
      alert: 'JobsDead',
      expr: `max ${PER_QUEUE} (${metric(METRIC_JOBS_DEAD_LENGTH)}) > 0`,
      summary:
        '{{ $value }} jobs were given up: a code bug on a class of jobs, read the reasons on the dead ones',
    },
    {
      alert: 'JobsBacklogUnread',
      // A number that is not known is NaN and ends the alert on age. A process that is gone leaves no series at all.
      expr: [
        `sum ${PER_QUEUE} (increase(${metric(METRIC_BACKLOG_ERRORS)}[1m])) > 0`,
        `time() - max ${PER_QUEUE} (${read}) > 120`,
        `absent(${read})`,
      ].join(' or '),
      for: '2m',
      summary: 'nobody can read the backlog: the alert on age is silent until somebody can',
    },
    {
      alert: 'OutboxStopped',
      // Only the kinds of an outbox have the slash of exchange/routing key.
      expr: `max(${age('kind=~".*/.*"')}) > 60 unless sum(increase(acemq_outbox_total{outcome="published"}[1m])) > 0`,
      for: '1m',
      summary:
        'the oldest owed record is {{ $value }}s old and nothing is published: look at the relay and the broker',
    },
  ]);
}

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly summary: string;
}

/** Every text is written as JSON, which YAML reads as the same. */
function file(rules: readonly Rule[]): string {
  const lines = rules.flatMap((rule) => [
    `      - alert: ${rule.alert}`,
    `        expr: ${JSON.stringify(rule.expr)}`,
    ...(rule.for === undefined ? [] : [`        for: ${rule.for}`]),
    '        labels:',
    '          severity: page',
    '        annotations:',
    `          summary: ${JSON.stringify(rule.summary)}`,
  ]);
  return ['groups:', '  - name: backlog', '    rules:', ...lines, ''].join('\n');
}

function kindMatchers(kinds: readonly string[] | undefined): readonly string[] {
  if (kinds === undefined) return [];
  if (!Array.isArray(kinds) || kinds.length === 0 || kinds.some((kind) => typeof kind !== 'string')) {
    throw new ConfigurationError(`kinds must be a list of at least one text, not ${shown(kinds)}`);
  }
  const quoted = kinds.map((kind: string) => kind.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return [`kind=~${JSON.stringify(quoted.join('|'))}`];
}

function prefixOf(namespace: string | undefined): string {
  if (namespace === undefined) return '';
  if (typeof namespace === 'string' && /^[a-zA-Z_][a-zA-Z0-9_]*$/.test(namespace)) return `${namespace}_`;
  throw new ConfigurationError(`namespace must be letters, digits and underscores, not ${shown(namespace)}`);
}
