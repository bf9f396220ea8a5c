import type { FaultDirection } from '@acemq/testing';
import { type Random, randomOf } from './random.ts';

/** Which process's network fails: its place in the crew, or everybody's. */
type Target = number | 'all';

/** Something that goes wrong between a process and the broker. */
export type NetworkFault =
  | {
      readonly kind: 'cut';
      readonly target: Target;
      readonly link: 'publish' | 'consume' | 'both';
      readonly how: 'rst' | 'fin';
      readonly side: 'client' | 'broker' | 'both';
    }
  /** Cut now, and again after so many frames of every connection that is made meanwhile. */
  | {
      readonly kind: 'cut-restoring';
      readonly target: Target;
      readonly direction: FaultDirection;
      readonly frame: number;
    }
  /** `newcomers` says whether connections made meanwhile are frozen too. */
  | {
      readonly kind: 'freeze';
      readonly target: Target;
      readonly direction: FaultDirection | 'both';
      readonly newcomers: boolean;
    }
  /** Cut, and refused until it ends. */
  | { readonly kind: 'refuse'; readonly target: Target }
  | { readonly kind: 'delay'; readonly target: Target; readonly ms: number }
  | { readonly kind: 'limit'; readonly target: Target; readonly bytesPerSecond: number };

/** Something that goes wrong at the broker itself. */
export type BrokerFault =
  | { readonly kind: 'alarm'; readonly on: 'memory' | 'disk' }
  /** Gone, and started again when it ends. `told` says whether the clients are told, or simply cut off. */
  | { readonly kind: 'restart'; readonly told: boolean }
  /** Halted where it is, and let go on when it ends. */
  | { readonly kind: 'suspend' }
  /** Every connection is closed by the broker. */
  | { readonly kind: 'close' };

/** A fault and when it happens: milliseconds from the start of the run, and how long it lasts. */
export interface Timed<F> {
  readonly at: number;
  readonly lasts: number;
  readonly fault: F;
}

/** Two tracks, each one fault after the other. The network fails while the broker does. */
export interface Plan {
  readonly network: readonly Timed<NetworkFault>[];
  readonly broker: readonly Timed<BrokerFault>[];
}

interface Dealt<F> {
  readonly fault: F;
  readonly lasts: number;
  /** Quiet time after it. */
  readonly rest: number;
}

const SIDES = ['client', 'broker', 'both'] as const;
const DIRECTIONS = ['toBroker', 'toClient'] as const;
const NETWORK_KINDS: readonly NetworkFault['kind'][] = [
  'cut',
  'cut',
  'cut',
  'cut-restoring',
  'cut-restoring',
  'freeze',
  'freeze',
  'refuse',
  'delay',
  'limit',
];
const BROKER_KINDS: readonly BrokerFault['kind'][] = [
  'alarm',
  'alarm',
  'restart',
  'restart',
  'suspend',
  'close',
];
/** When the first of each track comes: everybody is at work by then. */
const NETWORK_START = 2_000;
const BROKER_START = 5_000;

/**
 * The faults of a run: a pure function of the seed. A longer run begins like a shorter one. The kinds are
 * dealt like cards, so that each comes before any comes too often.
 *
 * @param duration - Milliseconds; every fault has ended by then.
 * @param crew - How many processes there are to choose from.
 */
export function planOf(seed: number, duration: number, crew: number): Plan {
  const random = randomOf(seed);
  // Seeds of their own, so that the length of one track changes nothing in the other.
  const [network, broker] = [random.next(), random.next()].map((part) => randomOf(part * 2 ** 32));
  return Object.freeze({
    network: track<NetworkFault>(network as Random, NETWORK_START, duration, NETWORK_KINDS, (kind, one) =>
      networkFault(kind, one, crew),
    ),
    broker: track<BrokerFault>(broker as Random, BROKER_START, duration, BROKER_KINDS, brokerFault),
  });
}

function track<F extends { readonly kind: string }>(
  random: Random,
  start: number,
  duration: number,
  kinds: readonly F['kind'][],
  deal: (kind: F['kind'], random: Random) => Dealt<F>,
): readonly Timed<F>[] {
  const faults: Timed<F>[] = [];
  let at = start;
  for (;;) {
    for (const kind of random.shuffled(kinds)) {
      const { fault, lasts, rest } = deal(kind, random);
      if (at + lasts > duration) return Object.freeze(faults);
      faults.push({ at, lasts, fault });
      at += lasts + rest;
    }
  }
}

function networkFault(kind: NetworkFault['kind'], random: Random, crew: number): Dealt<NetworkFault> {
  const target: Target = random.next() < 0.25 ? 'all' : random.whole(0, crew - 1);
  const rest = random.whole(500, 3_000);
  switch (kind) {
    case 'cut': {
      const link = random.pick(['publish', 'consume', 'both'] as const);
      const how = random.pick(['rst', 'fin'] as const);
      return { fault: { kind, target, link, how, side: random.pick(SIDES) }, lasts: 0, rest };
    }
    case 'cut-restoring': {
      const fault = { kind, target, direction: random.pick(DIRECTIONS), frame: random.whole(1, 40) };
      return { fault, lasts: random.whole(1_000, 4_000), rest };
    }
    case 'freeze': {
      const direction = random.pick([...DIRECTIONS, 'both'] as const);
      const newcomers = random.next() < 0.5;
      return { fault: { kind, target, direction, newcomers }, lasts: random.whole(500, 8_000), rest };
    }
    case 'refuse':
      return { fault: { kind, target }, lasts: random.whole(500, 5_000), rest };
    case 'delay':
      return { fault: { kind, target, ms: random.whole(20, 400) }, lasts: random.whole(1_000, 5_000), rest };
    case 'limit': {
      const fault = { kind, target, bytesPerSecond: random.whole(2_000, 60_000) };
      return { fault, lasts: random.whole(1_000, 5_000), rest };
    }
  }
}

function brokerFault(kind: BrokerFault['kind'], random: Random): Dealt<BrokerFault> {
  const rest = random.whole(2_000, 7_000);
  switch (kind) {
    case 'alarm':
      return {
        fault: { kind, on: random.pick(['memory', 'disk'] as const) },
        lasts: random.whole(500, 10_000),
        rest,
      };
    case 'restart': {
      const fault = { kind, told: random.next() < 0.5 };
      // The rungs run empty first, which comes on top.
      return { fault, lasts: random.whole(0, 3_000), rest: rest + 5_000 };
    }
    case 'suspend':
      return { fault: { kind }, lasts: random.whole(500, 8_000), rest };
    case 'close':
      return { fault: { kind }, lasts: 0, rest };
  }
}

/** One line for a person who reads along. */
export function describeFault({ fault, lasts }: Timed<NetworkFault | BrokerFault>): string {
  const { kind, ...details } = fault;
  const words = Object.entries(details).map(([name, value]) => `${name} ${value}`);
  return [kind, ...words, ...(lasts > 0 ? [`for ${(lasts / 1000).toFixed(1)} s`] : [])].join(', ');
}
