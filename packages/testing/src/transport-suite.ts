import { ConfigurationError, type Transport } from '@acemq/core';
import type { TransportCase } from './suite/case.ts';
import { CONSUMING } from './suite/consuming.ts';
import { DEAD_LETTERING } from './suite/dead-lettering.ts';
import { DECLARING } from './suite/declaring.ts';
import { ENCODING } from './suite/encoding.ts';
import { LOSING } from './suite/losing.ts';
import { PUBLISHING } from './suite/publishing.ts';
import { ROUTING } from './suite/routing.ts';
import { Stage, type TransportFaults, type TransportFeature } from './suite/stage.ts';

/** A transport to be tried, and what can be done to it. */
export interface TransportHarness {
  readonly transport: Transport;
  /** What each of the {@link TransportSuiteOptions.features} does. */
  readonly faults: Partial<TransportFaults>;
  /** Ends whatever was opened for it. Called after each case, whatever came of it. */
  close(): void | Promise<void>;
}

/** What {@link transportSuite} is given. */
export interface TransportSuiteOptions {
  /** Registers one test: `test` of vitest, Jest or `node:test`. */
  readonly test: (title: string, run: () => Promise<void>) => unknown;
  /** Opens a transport of its own for one case. */
  readonly open: () => TransportHarness | Promise<TransportHarness>;
  /**
   * What the harness can do beyond using the transport. A case that needs more is not registered; what is
   * left out so is what {@link transportSuite} returns.
   *
   * - `cut`: cut chosen links, as a network does;
   * - `block`, `unblock`: raise and end an alarm on the broker;
   * - `cancel`: have the broker cancel the consumers of a queue that stays;
   * - `refused`: a transport whose password is wrong;
   * - `unreachable`: a transport to where nobody is.
   */
  readonly features: readonly TransportFeature[];
}

const CASES: readonly TransportCase[] = [
  ...DECLARING,
  ...PUBLISHING,
  ...ENCODING,
  ...ROUTING,
  ...CONSUMING,
  ...DEAD_LETTERING,
  ...LOSING,
];

/**
 * Registers one test for each thing that every transport must do the same way, errors word by word.
 *
 * The same cases run against the in-memory broker and against RabbitMQ 3.10, so that the one cannot drift
 * from the other. Each case uses names of its own and removes them. Several can run at the same time, unless
 * an alarm is among the features: that stops the whole broker.
 *
 * Returns the titles of the cases that were not registered, because they need a feature that is not given.
 */
export function transportSuite(options: TransportSuiteOptions): readonly string[] {
  const known = new Set(CASES.flatMap((one) => one.needs));
  const unknown = options.features.find((feature) => !known.has(feature));
  if (unknown !== undefined) {
    throw new ConfigurationError(
      `transportSuite: unknown feature '${unknown}'; there are ${[...known].join(', ')}`,
    );
  }
  const left: string[] = [];
  for (const one of CASES) {
    if (one.needs.every((need) => options.features.includes(need)))
      options.test(one.title, () => run(one, options));
    else left.push(one.title);
  }
  return left;
}

async function run(one: TransportCase, options: TransportSuiteOptions): Promise<void> {
  const harness = await options.open();
  const missing = one.needs.find((need) => harness.faults[need] === undefined);
  try {
    if (missing !== undefined)
      throw new ConfigurationError(`transportSuite: the harness has no fault '${missing}'`);
    const stage = new Stage(harness.transport, harness.faults);
    try {
      await one.run(stage);
    } finally {
      await stage.close();
    }
  } finally {
    await harness.close();
  }
}
