// A fixed sequence of steps.

export { ATTR_RUN_AGE, EVENT_RUN_FINISHED, outcomeOfRun } from './finished-run.ts';
export type { StepHandler } from './follower.ts';
export { hopOf } from './hop.ts';
export type { Itinerary, Onward, Place, SlipForm } from './itinerary.ts';
// What is visible on the wire, as functions that ask nobody.
export { readItinerary } from './itinerary.ts';
export type { PipelineOptions, RunOptions } from './pipeline.ts';
export { Pipeline } from './pipeline.ts';
export { LONGEST_SLIP, writeSlip } from './routing-slip.ts';
export type { Run } from './run.ts';
export { RunningPipeline } from './running-pipeline.ts';
export type { FollowSlipOptions } from './slips.ts';
// Runs that take their itinerary along.
export { followSlip, startSlip } from './slips.ts';
export type { StartOptions } from './start-options.ts';
export type { End, Next, NextOptions, StepAnswer } from './step-answer.ts';
// The side of a step.
export { end, next } from './step-answer.ts';
export type { DoneStop, Stop } from './stop.ts';
