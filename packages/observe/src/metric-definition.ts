/** Which method of an `Observer` a metric arrives by: `count`, `gauge` or `observe`. */
export type MetricKind = 'counter' | 'gauge' | 'distribution';

/** What a value of the metric is a number of. */
export type MetricUnit =
  | 'attempts'
  | 'deliveries'
  | 'errors'
  | 'jobs'
  | 'messages'
  | 'publishes'
  | 'records'
  | 'requests'
  | 'retries'
  | 'runs'
  | 'seconds';

/** One metric, as data. */
export interface MetricDefinition {
  readonly name: string;
  readonly kind: MetricKind;
  readonly unit: MetricUnit;
  /** The names of its labels, all of which every sample has, sorted. A backlog may have constant ones beside them. */
  readonly labels: readonly string[];
  /**
   * The allowed values of each label that has a closed list of them; a label that is not here may say
   * anything.
   */
  readonly values: Readonly<Record<string, readonly string[]>>;
  /** One line that says what it counts. */
  readonly help: string;
}

/** Writes a definition down, once and for all. */
export function metric(
  name: string,
  kind: MetricKind,
  unit: MetricUnit,
  labels: readonly string[],
  values: Readonly<Record<string, readonly string[]>>,
  help: string,
): MetricDefinition {
  return Object.freeze({
    name,
    kind,
    unit,
    labels: Object.freeze([...labels].sort()),
    values: Object.freeze(values),
    help,
  });
}
