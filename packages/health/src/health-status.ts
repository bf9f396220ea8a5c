/**
 * How something is, from best to worst.
 *
 * - `up`: it works. A report may still have something to say, such as that the broker takes no publishes at
 *   present.
 * - `degraded`: it works, but not as well as it should. Worth an alert, and not worth taking an instance out
 *   of rotation: its replacement would most likely be degraded too.
 * - `down`: it does not work.
 */
export type HealthStatus = 'up' | 'degraded' | 'down';

/** The statuses, from best to worst. */
export const HEALTH_STATUSES: readonly HealthStatus[] = Object.freeze(['up', 'degraded', 'down']);
