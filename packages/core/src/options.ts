import { ConfigurationError } from './errors.ts';
import { shown } from './shown.ts';

/**
 * Refuses an options object with a name in it that nobody reads, which is a misspelt option more often than
 * not.
 *
 * @param options - What the caller gave; `undefined` is no options.
 * @param allowed - Every name that is read.
 * @param of - What the options are of, for the error: `queue "orders"`, `connect` …
 * @throws `ConfigurationError`, which lists what is unknown and what is allowed. It prints no value, since
 * one may be a password.
 */
export function checkOptions(options: unknown, allowed: readonly string[], of: string): void {
  if (options === undefined) return;
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new ConfigurationError(`the options of ${of} must be an object, not ${shown(options)}`);
  }
  const unknown = Object.keys(options).filter((name) => !allowed.includes(name));
  if (unknown.length === 0) return;
  throw new ConfigurationError(
    `${of} has no option ${unknown.sort().map(shown).join(', ')}; there are ${[...allowed].sort().join(', ')}`,
  );
}
