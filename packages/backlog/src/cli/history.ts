import { type BacklogSample, type Diagnosis, diagnose } from '../diagnosis.ts';
import { increase } from '../increase.ts';
import type { BacklogReading, KindReading } from '../reading.ts';

/** As many readings of a kind are kept. */
const KEPT = 120;

/** What is known of one kind. */
export interface KindHistory {
  readonly kind: string;
  readonly now: KindReading;
  readonly samples: readonly BacklogSample[];
  /** Jobs a second since the reading before; `null` where nobody counts. */
  readonly throughput: number | null;
  /** That of each reading, the latest last. */
  readonly throughputs: readonly (number | null)[];
  readonly diagnosis: Diagnosis;
}

/** The readings so far, by kind. */
export class History {
  readonly #samples: Map<string, BacklogSample[]> = new Map();

  /** Keeps a reading. Returns what is known now: the kinds with the oldest jobs first. */
  add(reading: BacklogReading): readonly KindHistory[] {
    const found = new Map(reading.kinds.map((kind) => [kind.kind, kind]));
    for (const kind of this.#samples.keys()) {
      if (!found.has(kind)) found.set(kind, { kind, depth: 0, oldestAge: 0 });
    }
    return [...found.values()]
      .map((now): KindHistory => {
        const samples = this.#samples.get(now.kind) ?? [];
        samples.push({
          at: reading.asOf,
          depth: now.depth,
          oldestAge: now.oldestAge,
          completed: now.completed ?? null,
          deadLength: reading.deadLength,
          ...(now.held === undefined ? {} : { held: now.held }),
        });
        if (samples.length > KEPT) samples.shift();
        this.#samples.set(now.kind, samples);
        const throughputs = samples.map((sample, at) => rate(samples[at - 1], sample));
        return {
          kind: now.kind,
          now,
          samples,
          throughput: throughputs.at(-1) ?? null,
          throughputs,
          diagnosis: diagnose(samples),
        };
      })
      .sort((a, b) => (b.now.oldestAge ?? -1) - (a.now.oldestAge ?? -1));
  }
}

function rate(before: BacklogSample | undefined, after: BacklogSample): number | null {
  if (before === undefined) return null;
  const done = increase([before, after], 'completed');
  const seconds = (after.at - before.at) / 1000;
  return done === undefined || seconds <= 0 ? null : done / seconds;
}
