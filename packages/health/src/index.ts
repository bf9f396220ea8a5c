// What a check found.
export { healthReport } from './health-report.ts';
export { HEALTH_SENTENCES } from './health-sentences.ts';
export { HEALTH_STATUSES } from './health-status.ts';
export type { HealthPart, HealthReport, HealthReportFields } from './health-report.ts';
export type { HealthStatus } from './health-status.ts';

// Asking several.
export { aggregateHealth } from './aggregate-health.ts';
export { BrokerHealth } from './broker-health.ts';
export type { AggregateHealthOptions } from './aggregate-health.ts';
export type { BrokerHealthOptions, HealthSource } from './broker-health.ts';
export type { HealthCheck } from './health-check.ts';

// Answering a probe.
export { healthHandler } from './health-handler.ts';
export type { HealthHandlerOptions } from './health-handler.ts';
