import { ConfigurationError, checkOptions, shown } from '@acemq/core';
import { HEALTH_STATUSES, type HealthStatus } from './health-status.ts';

/**
 * One fact of a report: whatever JSON can say, or a report in turn. `null` means that nobody could ask, which
 * is not the same as `false` or 0.
 */
export type HealthPart =
  | string
  | number
  | boolean
  | null
  | readonly HealthPart[]
  | { readonly [name: string]: HealthPart }
  | HealthReport;

/** What one check found. Frozen, and JSON as it stands. */
export interface HealthReport {
  readonly status: HealthStatus;
  /** Whether to go on sending work here: true for `up` and `degraded`. What a readiness probe answers. */
  readonly healthy: boolean;
  /** Why, for a person; empty when there is nothing to say. */
  readonly detail: string;
  /** When it was found. */
  readonly checked: Date;
  /** The facts behind it, by name. */
  readonly parts: Readonly<Record<string, HealthPart>>;
  /** `up`, or `down: ` and the detail. */
  toString(): string;
}

/** What {@link healthReport} may be given besides the status. */
export interface HealthReportFields {
  /** Why. Default: empty. */
  readonly detail?: string | undefined;
  /** When it was found. Default: now. */
  readonly checked?: Date | undefined;
  /** The facts behind it; copied. Default: none. */
  readonly parts?: Readonly<Record<string, HealthPart>> | undefined;
}

/** Keeps `toString` off the report's own fields, so that those are the report's and nothing else. */
class Report implements HealthReport {
  readonly status: HealthStatus;
  readonly healthy: boolean;
  readonly detail: string;
  readonly checked: Date;
  readonly parts: Readonly<Record<string, HealthPart>>;

  constructor(
    status: HealthStatus,
    detail: string,
    checked: Date,
    parts: Readonly<Record<string, HealthPart>>,
  ) {
    this.status = status;
    this.healthy = status !== 'down';
    this.detail = detail;
    this.checked = checked;
    this.parts = Object.freeze({ ...parts });
    Object.freeze(this);
  }

  toString(): string {
    return this.detail === '' ? this.status : `${this.status}: ${this.detail}`;
  }
}

/**
 * A report, for a check of one's own.
 *
 * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`), which names the field and the value: a status that is
 * none of the three, a detail that is not text, a time that is none, parts that are no object.
 */
export function healthReport(status: HealthStatus, fields: HealthReportFields = {}): HealthReport {
  checkOptions(fields, ['checked', 'detail', 'parts'], 'a health report');
  const { detail = '', checked = new Date(), parts = {} } = fields;
  if (!HEALTH_STATUSES.includes(status)) {
    throw new ConfigurationError(`status must be ${HEALTH_STATUSES.join(', ')}, and is ${shown(status)}`);
  }
  if (typeof detail !== 'string') {
    throw new ConfigurationError(`detail must be text, and is ${shown(detail)}`);
  }
  if (!(checked instanceof Date) || Number.isNaN(checked.getTime())) {
    throw new ConfigurationError(`checked must be a valid Date, and is ${shown(checked)}`);
  }
  if (typeof parts !== 'object' || parts === null || Array.isArray(parts)) {
    throw new ConfigurationError(`parts must be an object, and is ${shown(parts)}`);
  }
  return new Report(status, detail, checked, parts);
}
