// What a check found.
export { healthReport } from './health-report.ts';
export { HEALTH_SENTENCES } from './health-sentences.ts';
export { HEALTH_STATUSES } from './health-status.ts';
export type { HealthPart, HealthReport, HealthReportFields } from './health-report.ts';
export type { HealthStatus } from './health-status.ts';
