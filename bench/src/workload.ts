/** What every side of the measurement sends: the same payload, the same headers, the same properties. */

/** How many published messages may be without their confirm at once, on every side. */
export const OUTSTANDING = 1_000;

/** Unsettled deliveries out at once, on every side. */
export const PREFETCH = 200;

/** Messages before the measurement, so that the code is compiled by then. */
export const WARM_UP = 5_000;

/** What a comparison is given. */
export interface Comparison {
  /** How many a process. */
  readonly messages: number;
  readonly rounds: number;
  readonly url: string;
}

/** The measured variants. `headerless` is what a raw publish costs without any header, for orientation. */
export const SIDES = ['raw', 'raw-again', 'headerless', 'acemq', 'acemq-send', 'acemq-metrics'] as const;
export type Side = (typeof SIDES)[number];

export const JOBS = ['publish', 'consume'] as const;
export type Job = (typeof JOBS)[number];

/** What one worker process is asked to do. */
export interface Task {
  readonly side: Side;
  readonly job: Job;
  readonly messages: number;
  readonly url: string;
}

/** What it found: CPU time of the process, user and system, per message. */
export interface Measurement {
  readonly microseconds: number;
}

export function payloadOf(number: number): object {
  return {
    orderId: `o-${number}`,
    customer: { id: number % 997, name: 'Ada Lovelace', email: 'ada@example.org' },
    lines: [
      { sku: 'A-100', quantity: 2, price: 1299 },
      { sku: 'B-205', quantity: 1, price: 450 },
    ],
    total: 3048,
    placedAt: '2026-11-30T12:00:00.000Z',
  };
}

/** The headers that an AceMQ publish writes, for the raw side to write too. */
export function headersOf(id: string, queue: string, now: number): Record<string, string | number> {
  return {
    'x-acemq-id': id,
    'x-acemq-type': queue,
    'x-acemq-version': 1,
    'x-acemq-correlation': id,
    'x-acemq-attempt': 1,
    'x-acemq-first-seen': now,
    'x-acemq-origin': 'bench@localhost',
  };
}
