import { type HealthCheck, type HealthReport, healthReport } from '../src/index.ts';

/** A check that answers this. */
export function answering(name: string, report: HealthReport = healthReport('up')): HealthCheck {
  return { name, check: async () => report };
}

/** A check that answers whatever it is given, whether that is a report or not. */
export function answeringAnything(name: string, answer: unknown): HealthCheck {
  return { name, check: async () => answer as HealthReport };
}

/** A check that throws or rejects. */
export function failing(name: string, error: unknown): HealthCheck {
  return { name, check: () => Promise.reject(error) };
}

/** A check that answers when the test says so. */
export function holding(name: string): HealthCheck & {
  readonly asked: () => number;
  answer(report: HealthReport): void;
  fail(error: unknown): void;
} {
  let resolve: (report: HealthReport) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<HealthReport>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  let asked = 0;
  return {
    name,
    check: () => {
      asked += 1;
      return promise;
    },
    asked: () => asked,
    answer: resolve,
    fail: reject,
  };
}
