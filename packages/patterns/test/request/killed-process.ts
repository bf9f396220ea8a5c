// One side of a request in a process of its own: url, queue, role, step. It says where it is, holds still at the step and
// waits to be killed.
import { connect } from '@acemq/amqp';
import { Requester, respond } from '../../src/request/index.ts';

/** Where a process holds still. */
export type Step = 'before the reply' | 'after the reply' | 'while asking';

const [url = '', queue = '', step] = process.argv.slice(2) as [string?, string?, Step?];

const mq = await connect(url, { name: 'killed process' });

function hold(): Promise<never> {
  process.stdout.write('held\n');
  return new Promise(() => undefined);
}

if (step === 'while asking') {
  const requester = await Requester.open(mq, { routingKey: queue });
  requester.ask('from a process that is killed').catch(() => undefined);
  await mq
    .publisher({ routingKey: queue, allowUnroutable: true })
    .send('the ask is confirmed too', { routingKey: 'nobody' });
  process.stdout.write(`${requester.replyQueue}\n`);
  await hold();
} else {
  mq.interceptPublish(async (_context, next) => {
    if (step === 'before the reply') await hold();
    await next();
    await hold();
  });
  await respond(mq, queue, () => 'killed', { declare: false });
  process.stdout.write('responding\n');
}
