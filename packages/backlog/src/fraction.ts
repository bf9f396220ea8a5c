import { ConfigurationError, shown } from '@acemq/core';

export function fraction(value: unknown, option: string): number {
  if (typeof value === 'number' && value >= 0 && value <= 1) return value;
  throw new ConfigurationError(`${option} must be a number from 0 to 1, not ${shown(value)}`);
}
