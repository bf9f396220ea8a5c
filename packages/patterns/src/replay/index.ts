// Moving messages out of a dead-letter queue.

export type { BrowseReport } from './browse.ts';
// Looking at them, and removing them.
export { browse } from './browse.ts';
export type { Letter } from './letter.ts';
export type { PurgeReport } from './purge.ts';
export { purge } from './purge.ts';
export type { QueueKind } from './queue-kind.ts';
export type { ReplayOptions, ReplayReport } from './replay.ts';
export { replay } from './replay.ts';
export type { Replayed } from './replay-headers.ts';
// What a replay writes, and where a dead letter came from.
export { readReplayed, replayed } from './replay-headers.ts';
export type { ReplayTarget } from './replay-target.ts';
export type { Progress, SiftOptions } from './sift-options.ts';
export type { SiftReason } from './sifting.ts';
export { sourceQueueOf } from './source-queue.ts';
