// How many workers a burst needs.
export { capacity, drainTime } from './capacity.ts';
export type { Capacity, CapacityOptions, CapacityRow } from './capacity.ts';
export { simulate } from './simulation.ts';
export type { Simulation, SimulatedReading, SimulationOptions, SimulationState } from './simulation.ts';
export type { ArrivalPhase } from './arrivals.ts';

// What a queue's backlog is.
export type { BacklogReading, BacklogSource, KindReading } from './reading.ts';

// What its three lines mean.
export { diagnose } from './diagnosis.ts';
export type { BacklogSample, Diagnosis, DiagnosisOptions, Shape } from './diagnosis.ts';
