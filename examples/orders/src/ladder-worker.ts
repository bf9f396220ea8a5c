// The consumer process of ladder.ts: works one queue with one handler and tells its parent what it sees.
import { connect } from '@acemq/amqp';
import { accept, fixed, retry } from '@acemq/core';
import type { LadderReport } from './ladder-report.ts';
import { messageOf } from './message-of.ts';

// Its parent decides when it ends: a terminal's Ctrl-C reaches both, and without a parent it has nothing to do.
process.on('SIGINT', () => undefined).once('disconnect', () => process.exit(1));

const [url = '', queue = '', delay = ''] = process.argv.slice(2);
const tell = (report: LadderReport): void => void process.send?.(report);

try {
  const mq = await connect(url, { name: 'ladder-worker' });
  await mq.consume(
    queue,
    ({ envelope }) => {
      tell({ type: 'delivered', attempt: envelope.attempt, at: Date.now() });
      return envelope.attempt === 1 ? retry('the first attempt always fails here') : accept();
    },
    { retry: fixed(2, Number(delay)).waitInBrokerFrom(1) },
  );
  tell({ type: 'ready' });
} catch (error) {
  process.stderr.write(`ladder: ${messageOf(error)}\n`);
  process.exit(1);
}
