import type { Connection } from '@acemq/amqp';
import { fixed, type Message } from '@acemq/core';
import { end, next, Pipeline, type RunningPipeline } from '@acemq/patterns/pipeline';

/** Somebody who wants to become a customer. */
export interface Applicant {
  readonly name: string;
  readonly email: string;
  readonly city: string;
}

/** What is stored. */
export interface Customer extends Applicant {
  readonly country: string;
}

/** Where the customers are looked up and kept. */
export interface Registers {
  /** Rejects where the register is busy, or has no such city. */
  countryOf(applicant: Applicant): Promise<string>;
  /** Under the id of the run: what comes twice is stored once. */
  store(runId: string, customer: Customer): void;
  /** Told of those who are not taken on. */
  declined(runId: string): void;
}

/** Three steps. One that fails is tried twice more, a tenth of a second apart. */
export function onboardingPipeline(name: string): Pipeline<'validate' | 'enrich' | 'store'> {
  return new Pipeline(name, ['validate', 'enrich', 'store'], { retry: fixed(3, '100ms') });
}

/** Works all three in this process; each could as well be a service of its own, with `follow`. */
export function runOnboarding(
  mq: Connection,
  pipeline: ReturnType<typeof onboardingPipeline>,
  registers: Registers,
): Promise<RunningPipeline> {
  return pipeline.run(
    mq,
    {
      validate({ payload }: Message<Applicant>, run) {
        if (payload.email.includes('@')) return next();
        registers.declined(run.id);
        return end();
      },
      async enrich({ payload }: Message<Applicant>) {
        const country = await registers.countryOf(payload);
        return next({ ...payload, country } satisfies Customer);
      },
      store({ payload }: Message<Customer>, run) {
        registers.store(run.id, payload);
        return next();
      },
    },
    { concurrency: 8 },
  );
}
