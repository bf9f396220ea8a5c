import { ConfigurationError, shown } from '@acemq/core';
import type { HealthReport } from './health-report.ts';

/** Something that can be asked how it is. */
export interface HealthCheck {
  /** What its report stands under: not empty, and no other check's. */
  readonly name: string;
  /**
   * How it is now. Give it a deadline of its own, shorter than that of whatever asks: a check that is given up is not
   * stopped, and only the check itself knows what it was waiting for.
   */
  check(): Promise<HealthReport>;
}

/**
 * The checks with the names that they have now, so that the answer cannot change between two looks.
 *
 * @throws `ConfigurationError` for a list that is none, a check without name or method, two checks of one name.
 */
export function checkedChecks(checks: readonly HealthCheck[]): readonly HealthCheck[] {
  if (!Array.isArray(checks)) {
    // The value itself may be a URL with a password in it.
    throw new ConfigurationError(`checks must be a list of health checks, not of type ${typeof checks}`);
  }
  // Array.from, since map passes over a hole.
  const named = Array.from(checks, (one: HealthCheck | undefined, index): HealthCheck => {
    if (typeof one?.check !== 'function') {
      throw new ConfigurationError(
        `check ${index + 1} must have a name and a method check, and is ${shown(one)}; a connection becomes one with new BrokerHealth(mq)`,
      );
    }
    return { name: checkedCheckName(one.name, `the name of check ${index + 1}`), check: () => one.check() };
  });
  const names = named.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) {
    throw new ConfigurationError(
      `every check must have a name of its own, and two are called ${shown(twice)}`,
    );
  }
  return named;
}

/** Throws `ConfigurationError`, which calls it `what`, for a name that says nothing. */
export function checkedCheckName(name: string, what: string): string {
  if (typeof name === 'string' && name.trim() !== '') return name;
  throw new ConfigurationError(`${what} must be text that is not empty, not ${shown(name)}`);
}
