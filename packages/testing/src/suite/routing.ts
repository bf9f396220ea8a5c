import { always, type TransportCase } from './case.ts';
import { same } from './check.ts';
import { bytes } from './stage.ts';

/** Which queues a message goes to. */
export const ROUTING: readonly TransportCase[] = [
  always('routes by exchange type, and once to a queue that is bound twice', async (stage) => {
    const link = await stage.main();
    const queues = { one: await stage.queue('one'), two: await stage.queue('two') };
    const direct = await stage.exchange('direct', 'direct');
    const fanout = await stage.exchange('fanout', 'fanout');
    const headers = await stage.exchange('headers', 'headers');
    await link.bind(queues.one, direct, 'a');
    await link.bind(queues.two, direct, 'a');
    await link.bind(queues.two, direct, 'b');
    for (const exchange of [fanout, headers]) {
      await link.bind(queues.one, exchange, '');
      await link.bind(queues.one, exchange, 'twice');
    }
    same('direct a', (await stage.publish(direct, 'a', { body: bytes('direct a') })).verdict, 'confirmed');
    same('direct b', (await stage.publish(direct, 'b', { body: bytes('direct b') })).verdict, 'confirmed');
    same('direct c', (await stage.publish(direct, 'c', { body: bytes('direct c') })).verdict, 'unroutable');
    same('fanout', (await stage.publish(fanout, 'x', { body: bytes('fanout') })).verdict, 'confirmed');
    same('headers', (await stage.publish(headers, 'x', { body: bytes('headers') })).verdict, 'confirmed');
    same('one', await stage.drain(queues.one), ['direct a', 'fanout', 'headers']);
    same('two', await stage.drain(queues.two), ['direct a', 'direct b']);
  }),

  always('matches topics word by word', async (stage) => {
    const link = await stage.main();
    const topic = await stage.exchange('topic', 'topic');
    const patterns = ['#', '*', 'a.*', 'a.#', '#.b', 'a.#.b', '*.*', '', 'a*'];
    const keys = ['', 'a', 'a.b', 'a.x.b', 'a..b', 'a.', 'a.b.c', 'a*', 'b'];
    const queues = new Map<string, string>();
    for (const [index, pattern] of patterns.entries()) {
      const queue = await stage.queue(`p${index}`);
      await link.bind(queue, topic, pattern);
      queues.set(pattern, queue);
    }
    for (const key of keys) await stage.publish(topic, key, { body: bytes(key) });
    const found: Record<string, string[]> = {};
    for (const [pattern, queue] of queues) found[pattern] = await stage.drain(queue);
    same('who got what', found, {
      '#': keys,
      '*': ['a', 'a*', 'b'],
      'a.*': ['a.b', 'a.'],
      'a.#': ['a', 'a.b', 'a.x.b', 'a..b', 'a.', 'a.b.c'],
      '#.b': ['a.b', 'a.x.b', 'a..b', 'b'],
      'a.#.b': ['a.b', 'a.x.b', 'a..b'],
      '*.*': ['a.b', 'a.'],
      '': [''],
      'a*': ['a*'],
    });
  }),

  always('routes by the keys in CC and BCC too, and takes BCC off', async (stage) => {
    const link = await stage.main();
    const exchange = await stage.exchange('x', 'direct');
    const one = await stage.queue('one');
    const two = await stage.queue('two');
    await link.bind(one, exchange, 'cc');
    await link.bind(two, exchange, 'bcc');
    const end = await stage.publish(exchange, 'nowhere', { headers: { CC: ['cc', 'cc'], BCC: ['bcc'] } });
    same('the answer', end.verdict, 'confirmed');
    for (const queue of [one, two]) {
      const { headers, routingKey } = await stage.pull(queue);
      same('what arrived', { headers, routingKey }, { headers: { CC: ['cc', 'cc'] }, routingKey: 'nowhere' });
    }
  }),

  always('sends what reaches no queue to the alternate exchange', async (stage) => {
    const link = await stage.main();
    const alternate = await stage.exchange('alternate', 'fanout');
    const exchange = await stage.exchange('x', 'direct', { 'alternate-exchange': alternate });
    const queue = await stage.queue('q');
    await link.bind(queue, alternate, '');
    same('the answer', (await stage.publish(exchange, 'nowhere')).verdict, 'confirmed');
    await stage.depth(queue, 1);
  }),
];
