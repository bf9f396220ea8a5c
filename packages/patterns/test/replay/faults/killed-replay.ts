// A replay in a process of its own, which dies at one moment of its first message, or whenever it is killed.
import { amqplibTransport, connect } from '@acemq/amqp';
import { dyingAt, type Moment } from '@acemq/fault-node/dying-transport';
import { replay } from '../../../src/replay/index.ts';

const [url = '', queue = '', window = '', moment] = process.argv.slice(2);

const transport = amqplibTransport(url);
const mq = await connect(moment === undefined ? transport : dyingAt(moment as Moment, transport), {
  name: 'killed replay',
});
process.stdout.write('replaying\n');
await replay(mq, queue, { window: Number(window) });
await mq.close();
