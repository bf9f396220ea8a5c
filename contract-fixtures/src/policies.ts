import { exponential, fixed, none, type RetryPolicy } from '@acemq/core';

/** The policies of the contract, by the names that its cases use. */
export const POLICIES: ReadonlyMap<string, RetryPolicy> = new Map([
  ['exponential-uncapped', exponential(5, '1s', '24h')],
  ['exponential-capped', exponential(6, '10s', '1m')],
  ['exponential-give-up-on-age', exponential(5, '1s', '24h').giveUpAfter('2m')],
  ['fixed', fixed(4, '30s')],
  ['none', none()],
]);

/** The policy that a consumer of the contract's topology has. */
export const TOPOLOGY_POLICY: RetryPolicy = exponential(6, '10s', '5m');

/** One of {@link POLICIES}. */
export function policyNamed(name: string): RetryPolicy {
  const policy = POLICIES.get(name);
  if (policy === undefined) throw new Error(`no policy is called ${name} in src/policies.ts`);
  return policy;
}
