// How many workers a burst needs.
export { capacity, drainTime } from './capacity.ts';
export type { Capacity, CapacityOptions, CapacityRow } from './capacity.ts';
export { simulate } from './simulation.ts';
export type { Simulation, SimulatedReading, SimulationOptions, SimulationState } from './simulation.ts';
export type { ArrivalPhase } from './arrivals.ts';

// What a queue's backlog is.
export type { BacklogReading, BacklogSource, KindReading } from './reading.ts';

// What its three lines mean.
export { diagnose } from './diagnosis.ts';
export type { BacklogSample, Diagnosis, DiagnosisOptions, Shape } from './diagnosis.ts';

// Where it is read: Redis Streams.
export { StreamSource } from './stream-source.ts';
export type { StreamSourceOptions } from './stream-source.ts';
export type { RedisCaller, RedisClient, RedisSender } from './redis-calls.ts';

// Telling the numbers.
export { BacklogExporter } from './exporter.ts';
export type { BacklogExporterOptions } from './exporter.ts';

// RabbitMQ queues.
export { QueueSource } from './queue-source.ts';
export type { QueueSourceOptions } from './queue-source.ts';
export { ConsumedJobs } from './consumed-jobs.ts';
export type { ConsumedJobsOptions } from './consumed-jobs.ts';

// An outbox.
export { OutboxSource } from './outbox-source.ts';
export type { OutboxLike, OutboxSourceOptions } from './outbox-source.ts';

// Being paged.
export { alertRules } from './alert-rules.ts';
export type { AlertRulesOptions } from './alert-rules.ts';

// Working a Redis stream.
export { StreamWorker } from './stream-worker.ts';
export type { StreamWorkerOptions } from './worker-options.ts';
export type { StreamHandler, StreamJob } from './stream-job.ts';
export { enqueue } from './enqueue.ts';
export type { EnqueueOptions } from './enqueue.ts';
export { SPAN_QUEUE_WAIT } from './job-span.ts';
