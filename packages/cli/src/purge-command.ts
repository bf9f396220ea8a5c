import { ConfigurationError } from '@acemq/core';
import { purge } from '@acemq/patterns/replay';
import { flagsAndNames, plainText, wholeNumber } from '@acemq/terminal';
import { interruption, onBroker } from './broker.ts';
import { DONE, INTERRUPTED, LEFT } from './exit-codes.ts';
import { FILTER_FLAGS, filterOf } from './filters.ts';
import type { Surroundings } from './main.ts';
import { ProgressLine } from './progress-line.ts';
import { noMore, QUEUE_FLAGS, queueOf } from './queue-options.ts';
import { tellOfQuorum } from './quorum.ts';
import { messages } from './words.ts';

const FLAGS = {
  ...QUEUE_FLAGS,
  ...FILTER_FLAGS,
  limit: { type: 'string' },
  yes: { type: 'boolean' },
  quiet: { type: 'boolean' },
  json: { type: 'boolean' },
} as const;

/** `acemq dlq purge`: resolves to the exit code. */
export async function purgeCommand(args: readonly string[], around: Surroundings): Promise<number> {
  const { values, positionals } = flagsAndNames(args, FLAGS);
  noMore(positionals, 1);
  const queue = queueOf(positionals[0], values);
  const only = filterOf(values);
  const limit = values.limit === undefined ? undefined : wholeNumber(values.limit, 'limit');
  const mayAsk = around.stdin.isTTY === true && around.ask !== undefined;
  if (values.yes !== true && !mayAsk) {
    throw new ConfigurationError(
      'what is purged is gone for good, and there is no terminal to ask on; say --yes',
    );
  }
  const signal = interruption(around);
  return onBroker(around, values.url, async (mq) => {
    const total = await mq.messageCount(queue);
    if (values.yes !== true) {
      const most = limit === undefined ? total : Math.min(limit, total);
      const which = only === undefined ? messages(most) : `those of ${messages(total)} that match`;
      const answer = await around.ask?.(`Remove ${which} from ${plainText(queue)} for good? Type yes: `);
      if (answer?.trim().toLowerCase() !== 'yes') {
        around.stderr.write('Nothing was removed.\n');
        return LEFT;
      }
    }
    const progress = new ProgressLine(around, 'removed', limit);
    const onProgress = values.quiet === true ? undefined : progress.tell;
    const report = await purge(mq, queue, { only, limit, signal, onProgress }).finally(() => progress.end());
    const { removed, skipped, reason, kind } = report;
    if (values.json === true) around.stdout.write(`${JSON.stringify({ queue, ...report })}\n`);
    else {
      around.stdout.write(`${messages(removed)} removed from ${plainText(queue)}\n`);
      if (skipped > 0) around.stdout.write(`${messages(skipped)} left out: they do not match\n`);
    }
    if (skipped > 0) tellOfQuorum(around, queue, kind);
    if (reason === 'aborted') return INTERRUPTED;
    return removed > 0 ? DONE : LEFT;
  });
}
