import { checkOptions, type Duration, milliseconds } from '@acemq/core';
import { type Examined, examine } from './examination.ts';
import { checkedChecks, type HealthCheck } from './health-check.ts';
import { type HealthReport, healthReport } from './health-report.ts';
import { HEALTH_STATUSES } from './health-status.ts';

/** Options of {@link aggregateHealth}. */
export interface AggregateHealthOptions {
  /**
   * How long all checks have together, at least 1 ms. Default 5 s. Keep it below the time-out of the probe that asks, and
   * above those of the checks.
   */
  readonly timeout?: Duration | undefined;
}

/** Milliseconds. */
const DEFAULT_TIMEOUT = 5_000;

/**
 * The worst of several checks, with the report of each in `parts` under its name. `detail` has `name: detail` for each that
 * is not up or has something to say, joined by `; `. No checks are `up`.
 *
 * All are asked at once, under one deadline, and each answers for itself: one that throws, answers something that is no
 * report, or is late is reported as down, with the reason, and the others are reported as they are.
 *
 * Resolves when all have answered, and within `timeout`. Rejects only with `ConfigurationError` (`ACEMQ_CONFIGURATION`): for a
 * check without a name, two of one name, a time-out below 1 ms or that is none.
 */
export async function aggregateHealth(
  checks: readonly HealthCheck[],
  options: AggregateHealthOptions = {},
): Promise<HealthReport> {
  checkOptions(options, ['timeout'], 'aggregateHealth');
  return askAll(checkedChecks(checks), aggregateTimeoutOf(options));
}

/** The milliseconds that all checks have together. Throws `ConfigurationError`. */
export function aggregateTimeoutOf({ timeout = DEFAULT_TIMEOUT }: AggregateHealthOptions): number {
  return milliseconds(timeout, 'timeout', { min: 1 });
}

/** The same for checks and a time-out that are known to be right. Never rejects. */
export async function askAll(checks: readonly HealthCheck[], timeout: number): Promise<HealthReport> {
  const examined = await examine(checks, timeout);
  const worst = Math.max(0, ...examined.map(({ report }) => HEALTH_STATUSES.indexOf(report.status)));
  return healthReport(HEALTH_STATUSES[worst] ?? 'down', {
    detail: examined.flatMap(sentence).join('; '),
    parts: Object.fromEntries(examined.map(({ name, report }) => [name, report])),
  });
}

/** None of what is up and has nothing to say. */
function sentence({ name, report: { status, detail } }: Examined): string[] {
  if (detail !== '') return [`${name}: ${detail}`];
  return status === 'up' ? [] : [`${name}: ${status}`];
}
