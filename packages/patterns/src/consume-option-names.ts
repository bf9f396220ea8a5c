import type { ConsumeOptions } from '@acemq/amqp';

/** The names of a consumer's options, where others stand beside them; their values are checked by `consume`. */
export const CONSUME_OPTIONS: readonly string[] = Object.keys({
  retry: true,
  concurrency: true,
  prefetch: true,
  codec: true,
  schema: true,
  tag: true,
  exclusive: true,
  arguments: true,
  declare: true,
  closesLast: true,
  signal: true,
} satisfies Record<keyof ConsumeOptions, true>);
