import { describeError, shown, systemClock } from '@acemq/core';
import type { HealthCheck } from './health-check.ts';
import { type HealthReport, healthReport } from './health-report.ts';
import { HEALTH_SENTENCES } from './health-sentences.ts';

const { late: LATE, failed: FAILED } = HEALTH_SENTENCES;

/** A check's report, under its name. */
export interface Examined {
  readonly name: string;
  readonly report: HealthReport;
}

/**
 * Asks all checks at once, and resolves to a report of each, in their order, when all have answered or `timeout` milliseconds
 * have passed. Never rejects: a check that throws, answers no report or does not answer is down, with the reason. An answer
 * that comes later is dropped.
 */
export function examine(checks: readonly HealthCheck[], timeout: number): Promise<readonly Examined[]> {
  return new Promise((resolve) => {
    const found = new Map<string, HealthReport>();
    const end = (): void => {
      timer.cancel();
      resolve(checks.map(({ name }) => ({ name, report: found.get(name) ?? lateReport(timeout) })));
    };
    const answers = checks.map(async (check) => void found.set(check.name, await reportOf(check)));
    // Set last: where a check has the same deadline, its own is due first, and can say more.
    const timer = systemClock.after(timeout, end);
    void Promise.all(answers).then(end);
  });
}

function lateReport(timeout: number): HealthReport {
  return healthReport('down', { detail: `${LATE} ${timeout / 1000}s` });
}

async function reportOf(check: HealthCheck): Promise<HealthReport> {
  try {
    return checkedReport(await check.check());
  } catch (error) {
    return failedReport(describeError(error));
  }
}

/** Made anew, so that a report that somebody put together by hand is whole and stays as it is. */
function checkedReport(answer: unknown): HealthReport {
  if (typeof answer !== 'object' || answer === null || !('status' in answer)) {
    return failedReport(`it answered ${shown(answer)}, which is no report`);
  }
  const { status, detail, checked, parts } = answer as HealthReport;
  return healthReport(status, { detail, checked, parts });
}

function failedReport(message: string): HealthReport {
  return healthReport('down', { detail: `${FAILED}: ${message}` });
}
