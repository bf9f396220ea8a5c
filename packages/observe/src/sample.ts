import { ConfigurationError } from '@acemq/core';

/**
 * @throws ConfigurationError (`ACEMQ_CONFIGURATION`) when a counter would be counted by a number that is negative
 * or not finite: it only grows.
 */
export function checkDelta(metric: string, delta: number): void {
  if (delta >= 0 && delta < Number.POSITIVE_INFINITY) return;
  throw new ConfigurationError(`${metric} was counted by ${String(delta)}; 0 and more is allowed`);
}

/**
 * @throws ConfigurationError (`ACEMQ_CONFIGURATION`) when a distribution or a gauge is given what is not a finite
 * number: a sum could not be read again.
 */
export function checkSample(metric: string, value: number): void {
  if (Number.isFinite(value)) return;
  throw new ConfigurationError(`${metric} was given ${String(value)}; a finite number is allowed`);
}
