// The first step of a pipeline in a process of its own, which dies at one moment of its first delivery.
import { amqplibTransport, connect } from '@acemq/amqp';
import { dyingAt, type Moment } from '@acemq/fault-node/dying-transport';
import { next, Pipeline } from '../../../src/pipeline/index.ts';

const [url = '', name = '', moment] = process.argv.slice(2) as [string?, string?, Moment?];

const mq = await connect(dyingAt(moment as Moment, amqplibTransport(url)), { name: 'killed step' });
await new Pipeline(name, ['one', 'two']).follow(mq, 'one', () => next(), { prefetch: 1 });
