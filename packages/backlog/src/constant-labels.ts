import { ConfigurationError, shown } from '@acemq/core';
import { type Labels, type Observer, TAG_KIND } from '@acemq/observe';

interface Claims {
  /** The label names that all must have. */
  readonly names: string;
  /** Who came first, for the error. */
  readonly first: string;
  /** Which values are taken, and by whom. */
  readonly taken: Map<string, string>;
}

const claimsOf = new WeakMap<Observer, Claims>();

/** Labels that every metric of one exporter has, such as `{ stream: 'jobs' }`, as a frozen copy. */
export function constantLabels(labels: Labels | undefined): Labels {
  const given: unknown = labels ?? {};
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new ConfigurationError(`labels must be an object, not ${shown(given)}`);
  }
  for (const [name, value] of Object.entries(given)) {
    if (!/^[a-zA-Z_][a-zA-Z0-9_]*$/.test(name)) {
      throw new ConfigurationError(`labels has ${shown(name)}; letters, digits and underscores are allowed`);
    }
    if (name === TAG_KIND)
      throw new ConfigurationError('labels may not have "kind": every kind has it already');
    if (typeof value !== 'string') {
      throw new ConfigurationError(`labels.${name} must be text, not ${shown(value)}`);
    }
  }
  return Object.freeze({ ...(given as Labels) });
}

/**
 * Holds that everybody on one observer has the same label names, as a Prometheus registry asks, and that two exporters do not
 * write the same series. Returns what gives the claim up.
 *
 * @param sharing - The values may be those of somebody else: a worker's are those of the exporter beside it.
 */
export function claimLabels(observer: Observer, owner: string, labels: Labels, sharing = false): () => void {
  const pairs = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  const names = pairs.map(([name]) => name).join(', ');
  const values = JSON.stringify(pairs);
  let claims = claimsOf.get(observer);
  if (claims === undefined) {
    claims = { names, first: owner, taken: new Map() };
    claimsOf.set(observer, claims);
  }
  if (claims.names !== names) {
    throw new ConfigurationError(
      `${owner} has the labels (${names}) and ${claims.first}, on the same observer, (${claims.names}); the names must be the same`,
    );
  }
  if (sharing) return () => {};
  const holder = claims.taken.get(values);
  if (holder !== undefined) {
    throw new ConfigurationError(
      `${owner} would write the numbers of ${holder}, on the same observer; give each other values for labels, such as { stream: "jobs" }`,
    );
  }
  const { taken } = claims;
  taken.set(values, owner);
  return () => taken.delete(values);
}
