import type { KindReading } from './reading.ts';

/** What stands for the kinds that get no series of their own. */
const OTHER_KIND = 'other';

/** How long a kind reads 0 before it is forgotten. */
const FORGOTTEN_AFTER = 3_600_000;

interface Known {
  /** Since when it has been at 0; `undefined` while it is not. */
  emptySince: number | undefined;
  hasRetries: boolean;
}

/** Which kinds are told, so that a kind which has drained reads 0, and ten thousand kinds are not ten thousand series. */
export class KindLedger {
  readonly #maxKinds: number;
  readonly #known: Map<string, Known> = new Map();

  constructor(maxKinds: number) {
    this.#maxKinds = maxKinds;
  }

  /** The kinds that were told and are not forgotten, and whether they told what waits for a retry. */
  known(): readonly { readonly kind: string; readonly hasRetries: boolean }[] {
    return [...this.#known].map(([kind, { hasRetries }]) => ({ kind, hasRetries }));
  }

  /** What is to be told of a reading: the drained ones at 0, those past the limit together. */
  enter(readings: readonly KindReading[], now: number): readonly KindReading[] {
    const told = new Map<string, KindReading>();
    for (const reading of readings) {
      const kind = this.#placeOf(reading.kind);
      const before = told.get(kind);
      told.set(kind, before === undefined ? { ...reading, kind } : together(before, reading));
      const known = this.#known.get(kind);
      if (known !== undefined && reading.waitingRetry !== undefined) known.hasRetries = true;
    }
    for (const [kind, known] of this.#known) {
      const reading = told.get(kind);
      if (reading === undefined) told.set(kind, drained(kind, known.hasRetries));
      const isEmpty = reading === undefined || (reading.depth === 0 && !reading.waitingRetry);
      known.emptySince = isEmpty ? (known.emptySince ?? now) : undefined;
      // A kind that the source still names is not forgotten: a queue is there while it is empty.
      if (reading === undefined && now - (known.emptySince ?? now) >= FORGOTTEN_AFTER)
        this.#known.delete(kind);
    }
    return [...told.values()];
  }

  #placeOf(kind: string): string {
    if (this.#known.has(kind)) return kind;
    const own = this.#known.size - (this.#known.has(OTHER_KIND) ? 1 : 0);
    const place = own < this.#maxKinds ? kind : OTHER_KIND;
    if (!this.#known.has(place)) this.#known.set(place, { emptySince: undefined, hasRetries: false });
    return place;
  }
}

function drained(kind: string, hasRetries: boolean): KindReading {
  return { kind, depth: 0, oldestAge: 0, ...(hasRetries ? { waitingRetry: 0 } : {}) };
}

function together(a: KindReading, b: KindReading): KindReading {
  const waitingRetry =
    a.waitingRetry === undefined && b.waitingRetry === undefined
      ? undefined
      : sum(a.waitingRetry ?? 0, b.waitingRetry ?? 0);
  return {
    kind: a.kind,
    depth: sum(a.depth, b.depth),
    oldestAge: a.oldestAge === null || b.oldestAge === null ? null : Math.max(a.oldestAge, b.oldestAge),
    ...(waitingRetry === undefined ? {} : { waitingRetry }),
  };
}

function sum(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b;
}
