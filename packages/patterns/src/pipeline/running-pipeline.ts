import type { CloseOptions, Consumer, ConsumerCloseReport } from '@acemq/amqp';

/** The consumers of a pipeline's steps in one process. */
export class RunningPipeline {
  /** In the order of the steps. */
  readonly consumers: readonly Consumer[];

  /** @internal Made by `Pipeline.run`. */
  constructor(consumers: readonly Consumer[]) {
    this.consumers = Object.freeze([...consumers]);
  }

  /**
   * Closes them all under one deadline, each as its own `close` says. `finished` when all of them were, and the sum of what
   * they left unsettled.
   */
  async close(options?: CloseOptions): Promise<ConsumerCloseReport> {
    const reports = await Promise.all(this.consumers.map((consumer) => consumer.close(options)));
    const unsettled = reports.reduce((sum, report) => sum + report.unsettled, 0);
    return Object.freeze({ finished: reports.every(({ finished }) => finished), unsettled });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close().then(() => undefined);
  }
}
