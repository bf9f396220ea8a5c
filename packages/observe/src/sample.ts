import { ConfigurationError } from '@acemq/core';

/**
 * @throws ConfigurationError (`ACEMQ_CONFIGURATION`) when a counter would be counted by what is negative or no
 * finite number: it only grows.
 */
export function checkDelta(metric: string, delta: number): void {
  if (delta >= 0 && Number.isFinite(delta)) return;
  throw new ConfigurationError(`${metric} was counted by ${String(delta)}; 0 and more is allowed`);
}

/**
 * @throws ConfigurationError (`ACEMQ_CONFIGURATION`) when a distribution is given what is not a finite number: its sum
 * could not be read again.
 */
export function checkSample(metric: string, value: number): void {
  if (Number.isFinite(value)) return;
  throw new ConfigurationError(`${metric} was given ${String(value)}; a finite number is allowed`);
}

/**
 * `NaN` is allowed, and says that the number is not known at the moment: Prometheus reads it as such, and no rule fires on it.
 *
 * @throws ConfigurationError (`ACEMQ_CONFIGURATION`) when a gauge is set to anything else that is not a finite number.
 */
export function checkGauge(metric: string, value: number): void {
  if (Number.isFinite(value) || Number.isNaN(value)) return;
  throw new ConfigurationError(`${metric} was set to ${String(value)}; a finite number or NaN is allowed`);
}
