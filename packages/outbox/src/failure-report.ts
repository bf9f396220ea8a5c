import type { Logger } from '@acemq/core';
import type { RelayFailure, RelayPhase } from './relay-options.ts';

const LINES: Readonly<Record<RelayPhase, string>> = {
  read: 'the relay could not read the outbox; every record is still in it',
  publish: 'a record of the outbox was not published',
  mark: 'the relay could not write down what became of records; it tries again',
  clean: 'the relay could not remove old published records',
};

/** Tells log and application of a failure. What the application throws is logged. */
export function reportFailure(
  error: unknown,
  where: RelayFailure,
  logger: Pick<Logger, 'warn' | 'error'>,
  onError: ((error: unknown, where: RelayFailure) => void) | undefined,
): void {
  logger.warn(LINES[where.phase], { ...where, error });
  try {
    onError?.(error, where);
  } catch (thrown) {
    logger.error('onError of the relay has thrown', { error: thrown });
  }
}
