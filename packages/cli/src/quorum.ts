import type { QueueKind } from '@acemq/patterns/replay';
import type { Surroundings } from '@acemq/terminal';

/** Says what a look has cost, where it has cost something. */
export function tellOfQuorum({ stderr }: Pick<Surroundings, 'stderr'>, queue: string, kind: QueueKind): void {
  if (kind !== 'quorum') return;
  stderr.write(
    `${queue} is a quorum queue: to look has spent a delivery of each message that\n` +
      'was read and left there, and has put it at the end of the queue.\n',
  );
}
