import { type Clock, describeError, type Link, randomId } from '@acemq/core';
import type { HealthReport } from '@acemq/health';
import { decideHealth, type HealthFacts, type ProbeOutcome } from './health.ts';
import { seconds } from './telemetry.ts';

/** What a {@link HealthCheckup} is made with. */
export interface HealthCheckupOptions {
  readonly clock: Clock;
  facts(): HealthFacts;
  /** Both links, while both are up. */
  links(): readonly Link[] | undefined;
}

/**
 * Asks the broker, under a deadline, whether a queue exists that nobody has declared: a question that creates
 * nothing, and that a socket which is open and dead does not answer.
 *
 * There is one question on a link at a time. A caller that comes while it is open waits for the same answer,
 * with a deadline of its own: on a link that says nothing, questions would pile up with every probe.
 */
export class HealthCheckup {
  readonly #options: HealthCheckupOptions;
  readonly #asked = new WeakMap<Link, Promise<number>>();

  constructor(options: HealthCheckupOptions) {
    this.#options = options;
  }

  /** Never rejects. Resolves within `timeout` milliseconds, whatever the links do. */
  async report(timeout: number): Promise<HealthReport> {
    const { facts, links } = this.#options;
    const before = facts();
    const up = before.closed || before.blocked === true ? undefined : links();
    if (up === undefined) return decideHealth(before, undefined);
    const probe = await this.#probe(up, timeout);
    // What is known is read again: an alarm and the silence it brings arrive together.
    return decideHealth(facts(), probe);
  }

  #probe(links: readonly Link[], timeout: number): Promise<ProbeOutcome> {
    return new Promise((resolve) => {
      const timer = this.#options.clock.after(timeout, () => resolve({ kind: 'silent', timeout }));
      const end = (outcome: ProbeOutcome): void => {
        timer.cancel();
        resolve(outcome);
      };
      Promise.all(links.map((link) => this.#question(link))).then(
        (times) => end({ kind: 'answered', seconds: Math.max(...times) }),
        (error: unknown) => end({ kind: 'failed', message: messageOf(error) }),
      );
    });
  }

  /** The seconds until the answer. */
  #question(link: Link): Promise<number> {
    const open = this.#asked.get(link);
    if (open !== undefined) return open;
    const answer = ask(link).finally(() => this.#asked.delete(link));
    this.#asked.set(link, answer);
    return answer;
  }
}

async function ask(link: Link): Promise<number> {
  const started = seconds();
  await link.checkQueue(`acemq-health-${randomId().replaceAll('-', '')}`);
  return seconds() - started;
}

function messageOf(error: unknown): string {
  return error instanceof Error && error.message !== '' ? error.message : describeError(error);
}
