import { type Ack, accept, fixed, park, reject, retry } from '@acemq/core';
import { dyingAt, type Moment } from '@acemq/fault-node/dying-transport';
import { amqplibTransport, connect } from '../../src/index.ts';

/** What the handler answers to a first attempt. */
export type Answer = 'accept' | 'retry here' | 'retry in the broker' | 'reject' | 'park';

// A consumer in a process of its own, which dies at one step of settling its first delivery.
const [url = '', queue = '', answer, step] = process.argv.slice(2) as [string?, string?, Answer?, Moment?];

const policy =
  answer === 'retry in the broker' ? fixed(3, '500ms').waitInBrokerFrom('500ms') : fixed(3, '10ms');

function answered(): Ack {
  switch (answer) {
    case 'retry here':
    case 'retry in the broker':
      return retry(new Error('not yet'));
    case 'reject':
      return reject('bad');
    case 'park':
      return park('odd');
    default:
      return accept();
  }
}

const mq = await connect(dyingAt(step as Moment, amqplibTransport(url)), { name: 'killed' });
await mq.consume(queue, answered, { retry: policy, prefetch: 1 });
