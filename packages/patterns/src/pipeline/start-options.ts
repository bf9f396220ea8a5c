import type { SendOptions } from '@acemq/amqp';
import { type Codec, checkOptions } from '@acemq/core';
import { checkHeaders } from './step-answer.ts';

/** What the first message of a run may say of itself. */
export interface StartOptions
  extends Pick<
    SendOptions,
    'id' | 'type' | 'version' | 'correlationId' | 'causationId' | 'headers' | 'signal'
  > {
  /** Writes the payload. Default: the connection's. */
  readonly codec?: Codec | undefined;
}

const KNOWN: readonly string[] = [
  'id',
  'type',
  'version',
  'correlationId',
  'causationId',
  'headers',
  'signal',
  'codec',
] satisfies (keyof StartOptions)[];

/** @throws `ConfigurationError` for an option that is unknown, or headers that a run may not bring along. */
export function checkStart(options: StartOptions, of: string): StartOptions {
  checkOptions(options, KNOWN, of);
  if (options.headers !== undefined) checkHeaders(options.headers);
  return options;
}
