import { ConfigurationError, shown } from '@acemq/core';
import type { OutboxRecord } from './record.ts';

/** In bytes. A message queue is no place for larger ones, and neither is a table of them. */
export const DEFAULT_MAX_BODY: number = 8 * 1024 * 1024;

/** The option as it is used. Throws `ConfigurationError` for what is no whole number of at least 1. */
export function maxBodyOf(maxBody: number | undefined): number {
  if (maxBody === undefined) return DEFAULT_MAX_BODY;
  if (Number.isSafeInteger(maxBody) && maxBody >= 1) return maxBody;
  throw new ConfigurationError(`maxBody must be a whole number of bytes, at least 1, not ${shown(maxBody)}`);
}

/** Refuses a record before a byte of it is sent. */
export function checkRecord(record: OutboxRecord, limit: number, whose: string): void {
  if (typeof record?.id !== 'string' || !(record.body instanceof Uint8Array)) {
    throw new ConfigurationError(`a record must be what record() has built, not ${shown(record)}`);
  }
  if (record.id === '') throw new ConfigurationError('the id of a record must not be empty');
  if (record.body.byteLength <= limit) return;
  throw new ConfigurationError(
    `the body of the record ${shown(record.id)} has ${record.body.byteLength} bytes; ${whose} allows ${limit}`,
  );
}
