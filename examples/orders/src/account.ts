import { ended, type Tally } from './tally.ts';

/** The figures of a finished run: what was put in, what the library counted, and what the broker holds. */
export interface Account {
  /** Lines of the input. */
  readonly read: number;
  /** Of those, confirmed by the broker. */
  readonly published: number;
  readonly tally: Tally;
  /** Messages that lie in each queue, counted by the broker. */
  readonly lying: {
    readonly source: number;
    readonly rungs: number;
    readonly deadLetters: number;
    readonly parked: number;
  };
}

/** What does not add up, a sentence each; empty when everything does. */
export function faultsOf({ read, published, tally, lying }: Account): readonly string[] {
  const faults: string[] = [];
  if (published !== read) faults.push(`${read} orders were read and ${published} published`);
  if (published !== ended(tally)) {
    faults.push(
      `${published} orders were published, and ${tally.handled} handled + ${tally.deadLettered} dead-lettered ` +
        `+ ${tally.parked} parked are ${ended(tally)}` +
        (ended(tally) > published ? '; one that was delivered twice is counted twice' : ''),
    );
  }
  if (tally.deadLettered !== lying.deadLetters) {
    faults.push(
      `${tally.deadLettered} orders were dead-lettered, and ${lying.deadLetters} lie in the .dlq queue`,
    );
  }
  if (tally.parked !== lying.parked) {
    faults.push(`${tally.parked} orders were parked, and ${lying.parked} lie in the .parked queue`);
  }
  if (lying.source + lying.rungs > 0) {
    faults.push(`${lying.source} orders are left in the queue and ${lying.rungs} on the ladder`);
  }
  return faults;
}
