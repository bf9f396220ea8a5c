import {
  ConfigurationError,
  checkOptions,
  type Duration,
  guardLogger,
  type HttpAnswer,
  type HttpHandler,
  httpHandler,
  type Logger,
  shown,
} from '@acemq/core';
import { aggregateTimeoutOf, askAll } from './aggregate-health.ts';
import { BrokerHealth, brokerTimeoutOf, type HealthSource, hasHealth } from './broker-health.ts';
import { type Examined, examine } from './examination.ts';
import { checkedChecks, type HealthCheck } from './health-check.ts';
import type { HealthReport } from './health-report.ts';

/** Options of {@link healthHandler}. */
export interface HealthHandlerOptions {
  /**
   * How long the checks have, at least 1 ms. Default 5 s for a list of them. A connection is given 3 s by default, and 2 s more
   * to say so itself before it is given up. Keep these below the time-out of the probe that asks, or nobody reads the reason.
   */
  readonly timeout?: Duration | undefined;
  /** Whether the facts are answered too. They name queues, and whatever your own checks say. Default: false. */
  readonly parts?: boolean | undefined;
  /** Gets one line when answers begin to fail, or parts cannot be written. `console` by default. */
  readonly logger?: Pick<Logger, 'error'> | undefined;
}

/** Milliseconds after which a connection that keeps to no time-out is given up. */
const GRACE = 2_000;

/**
 * Answers a readiness probe with `{status, detail}` as JSON: 503 when it is down, 200 when it is up or degraded. Given a
 * connection, with the connection's own report; given checks, with that of {@link aggregateHealth}. It is both a listener of
 * `node:http` (`createServer(handler)`, `app.get('/ready', handler)`) and a function from a `Request` to its `Response`
 * (`export const GET = handler`, `Bun.serve({ fetch: handler })`).
 *
 * A request that comes while the checks are being asked shares their answer. Nothing is kept after it.
 *
 * It asks nobody who they are, and it asks the broker: serve it where only the operator can read it, and never as a liveness
 * probe, since no restart repairs a broker.
 *
 * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`), which names the value: a check without a name, two of one name, a
 * time-out below 1 ms or that is none, a logger without `error`, an option that nobody reads.
 */
export function healthHandler(
  checks: HealthSource | readonly HealthCheck[],
  options: HealthHandlerOptions = {},
): HttpHandler {
  checkOptions(options, ['logger', 'parts', 'timeout'], 'healthHandler');
  const { timeout, parts = false } = options;
  const logger = guardLogger(options.logger ?? console, ['error']);
  if (typeof parts !== 'boolean') {
    throw new ConfigurationError(`parts must be true or false, not ${shown(parts)}`);
  }
  const ask = reporter(checks, timeout);
  const text = parts ? partsWriter(logger) : withoutParts;
  const answer = async (): Promise<HttpAnswer> => {
    const report = await ask();
    return { status: report.healthy ? 200 : 503, contentType: 'application/json', body: text(report) };
  };
  let open: Promise<HttpAnswer> | undefined;
  const shared = (): Promise<HttpAnswer> => {
    open ??= answer().finally(() => {
      open = undefined;
    });
    return open;
  };
  return httpHandler(shared, { name: 'healthHandler', logger });
}

/** How to come to a report. Throws `ConfigurationError`. */
function reporter(
  given: HealthSource | readonly HealthCheck[],
  timeout: Duration | undefined,
): () => Promise<HealthReport> {
  if (!Array.isArray(given) && hasHealth(given)) return ofConnection(given, brokerTimeoutOf(timeout));
  const checks = checkedChecks(given as readonly HealthCheck[]);
  const deadline = aggregateTimeoutOf({ timeout });
  return () => askAll(checks, deadline);
}

function ofConnection(given: HealthSource, timeout: number): () => Promise<HealthReport> {
  const connection = new BrokerHealth(given, { timeout });
  return async () => {
    const [examined] = await examine([connection], timeout + GRACE);
    // One check, one report.
    return (examined as Examined).report;
  };
}

function withoutParts({ status, detail }: HealthReport): string {
  return JSON.stringify({ status, detail });
}

/** A check of the application's own may have put anything there. No service is out of rotation for that. */
function partsWriter(logger: Pick<Logger, 'error'>): (report: HealthReport) => string {
  let failing = false;
  return (report) => {
    const { status, detail, parts } = report;
    try {
      const text = JSON.stringify({ status, detail, parts });
      failing = false;
      return text;
    } catch (error) {
      if (!failing) {
        failing = true;
        logger.error('healthHandler leaves out parts that cannot be written as JSON', { error });
      }
      return withoutParts(report);
    }
  };
}
