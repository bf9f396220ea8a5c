// A Prometheus of one's own
export { startPrometheus } from './server.ts';

export type { PrometheusOptions, PrometheusServer, ScrapeTarget } from './server.ts';
export type { Sample } from './query.ts';
