import type { Clock, DeclareTarget, Link, Logger, Timer } from '@acemq/core';
import { type Backoff, backoffCeiling } from './backoff.ts';
import { RecordedTopology, type RefusedDeclaration } from './recorded-topology.ts';

/** What a {@link RestoredTopology} is made with. */
export interface RestoredTopologyOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** How often what was refused is tried again. */
  readonly backoff: Backoff;
  /** The link to declare on, while it is up. */
  link(): Link | undefined;
}

/** What a connection has declared, declared again on each new link, and what the broker refused of it until it does not. */
export class RestoredTopology {
  readonly #options: RestoredTopologyOptions;
  readonly #recorded = new RecordedTopology();
  #refused: readonly RefusedDeclaration[] = [];
  #refusals = 0;
  #timer: Timer | undefined;

  constructor(options: RestoredTopologyOptions) {
    this.#options = options;
  }

  /** What the broker refused when it was last tried. */
  get refused(): readonly RefusedDeclaration[] {
    return this.#refused;
  }

  /** A target that declares on `link` and remembers what the broker accepted. */
  recordOn(link: Link): DeclareTarget {
    return this.#recorded.recordOn(link);
  }

  /** Whether rungs of this queue were declared. */
  hasRungsOf(queue: string): boolean {
    return this.#recorded.hasQueue((name) => name.startsWith(`${queue}.retry.`));
  }

  forgetQueue(name: string): void {
    this.#recorded.forgetQueue(name);
  }

  forgetExchange(name: string): void {
    this.#recorded.forgetExchange(name);
  }

  /** Rejects only when the link itself is gone: a refusal keeps nothing else from being restored, and is tried again. */
  async restoreOn(link: Link): Promise<void> {
    this.stop();
    this.#note(await this.#recorded.restoreOn(link));
  }

  /** Tries nothing again. */
  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** Logs what is refused once a change, and tries it again later. */
  #note(refused: readonly RefusedDeclaration[]): void {
    const { logger } = this.#options;
    const before = new Set(this.#refused.map(({ what, reason }) => `${what}: ${reason}`));
    for (const { what, reason } of refused) {
      if (before.has(`${what}: ${reason}`)) continue;
      const words = 'a declaration was refused when the connection was restored; it will be tried again';
      logger.error(words, { what, reason });
    }
    this.#refused = refused;
    this.#refusals = refused.length === 0 ? 0 : this.#refusals + 1;
    if (refused.length > 0) this.#againLater();
  }

  #againLater(): void {
    const { clock, backoff } = this.#options;
    this.#timer = clock.after(backoffCeiling(backoff, this.#refusals), () => void this.#again());
  }

  async #again(): Promise<void> {
    const link = this.#options.link();
    if (link === undefined) {
      // Restoring a link declares everything again; but it may have been past that, and found what is refused.
      this.#againLater();
      return;
    }
    try {
      await this.restoreOn(link);
    } catch (error) {
      this.#options.logger.debug('the link was lost while declaring again what was refused', { error });
    }
  }
}
