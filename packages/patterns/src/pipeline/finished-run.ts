import type { Connection } from '@acemq/amqp';
import { ageOf, type Envelope } from '@acemq/core';
import {
  METRIC_PIPELINE_RUN_DURATION,
  METRIC_PIPELINE_RUN_TOTAL,
  OUTCOME_COMPLETED,
  OUTCOME_ENDED_EARLY,
  type PipelineOutcome,
  TAG_OUTCOME,
  TAG_PIPELINE,
  TAG_STEP,
} from '@acemq/observe';
import type { Itinerary } from './itinerary.ts';
import type { Run } from './run.ts';

/** The event on the span of the delivery that ends a run, and what it carries besides the tags of the metrics. */
export const EVENT_RUN_FINISHED = 'pipeline.run_finished';
/** Whole milliseconds since the first message of the run was published. */
export const ATTR_RUN_AGE = 'messaging.acemq.run_age_ms';

/** How a run ends at a step that lets it go no further: a last step completes it, whatever it answers. */
export function outcomeOfRun({ remaining }: Pick<Itinerary, 'remaining'>): PipelineOutcome {
  return remaining.length === 0 ? OUTCOME_COMPLETED : OUTCOME_ENDED_EARLY;
}

/** Counts a run that ends with this message, and writes it on the active span. */
export function reportFinished(mq: Connection, run: Run, envelope: Envelope): void {
  const { pipeline, step } = run;
  const outcome = outcomeOfRun(run);
  const age = ageOf(envelope, mq.clock.now());
  const tags = { [TAG_PIPELINE]: pipeline, [TAG_STEP]: step, [TAG_OUTCOME]: outcome };
  mq.observer.count(METRIC_PIPELINE_RUN_TOTAL, 1, tags);
  mq.observer.observe(METRIC_PIPELINE_RUN_DURATION, age / 1000, tags);
  mq.tracing.event(EVENT_RUN_FINISHED, { ...tags, [ATTR_RUN_AGE]: Math.round(age) });
}
