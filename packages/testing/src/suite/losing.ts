import {
  BrokerRefusedError,
  ConnectError,
  ConnectionClosedError,
  ConnectionLostError,
  type Delivery,
  type Transport,
} from '@acemq/core';
import { always, given, type TransportCase } from './case.ts';
import { holds, isA, rejected, same, thrown } from './check.ts';
import { listener, outbound, type PublishEnd, queueSpec, send, text, until } from './stage.ts';

const request = (signal?: AbortSignal): Parameters<Transport['dial']>[0] => ({
  name: 'acemq.suite.dial',
  endpoint: 0,
  timeout: 5000,
  heartbeat: 0,
  events: { lost: () => {}, blocked: () => {}, unblocked: () => {} },
  ...(signal === undefined ? {} : { signal }),
});

/** Links that are closed, dropped, cut, blocked, or never made. */
export const LOSING: readonly TransportCase[] = [
  always('refuses everything on a link that was closed, and tells nobody that it was lost', async (stage) => {
    const { link, lost } = await stage.dial('closing');
    const queue = await stage.queue('q');
    const channel = await link.openPublishChannel({ closed: () => {} });
    await link.close();
    await link.close();
    same('open', link.open, false);
    same('the channel', channel.open, false);
    await rejected('a question', link.checkQueue(queue), ConnectionClosedError);
    await rejected('a declaration', link.declareQueue(queue, queueSpec()), ConnectionClosedError);
    await rejected('a channel', link.openPublishChannel({ closed: () => {} }), ConnectionClosedError);
    thrown(
      'a publish',
      () =>
        channel.publish(
          '',
          queue,
          outbound(),
          listener(() => {}),
        ),
      ConnectionLostError,
    );
    same('lost', lost, []);
  }),

  always('drops a link at once, and everything that waits on it rejects', async (stage) => {
    const { link } = await stage.dial('dropping');
    const queue = await stage.queue('q');
    const question = rejected('a question', link.checkQueue(queue), ConnectionLostError);
    link.destroy();
    same('open', link.open, false);
    await question;
    await rejected('a later one', link.checkQueue(queue), ConnectionLostError);
    await link.close();
  }),

  always('rejects hundreds of questions when their link is dropped or closed', async (stage) => {
    const queue = await stage.queue('q');
    const ends = [
      ['destroy', ConnectionLostError],
      ['close', ConnectionClosedError],
    ] as const;
    for (const [end, type] of ends) {
      const { link } = await stage.dial(end);
      const questions = Promise.allSettled(Array.from({ length: 300 }, () => link.checkQueue(queue)));
      await link[end]();
      for (const [index, answer] of (await questions).entries()) {
        // A broker that is said goodbye to has answered what it had read before.
        if (answer.status === 'rejected') isA(`question ${index}`, answer.reason, type);
        else same(`${end}: question ${index}`, answer.value, { messages: 0, consumers: 0 });
      }
    }
  }),

  always('ends an attempt to connect by its signal', async (stage) => {
    const controller = new AbortController();
    const attempt = stage.transport.dial(request(controller.signal));
    controller.abort(new Error('enough'));
    await rejected('the attempt', attempt, ConnectError);
  }),

  given(['cut'], 'loses a link once, with everything on it, and takes its deliveries back', async (stage) => {
    const { link, lost } = await stage.dial('cutting');
    const queue = await stage.queue('q');
    await stage.fill(queue, 'a');
    const consumer = await stage.consume(queue, {}, link);
    await until('the delivery', () => consumer.deliveries.length === 1);
    const closed: Error[] = [];
    const channel = await link.openPublishChannel({ closed: (error) => void closed.push(error) });
    await stage.faults.cut?.((name) => name.endsWith('.cutting'));
    await until('the loss', () => lost.length > 0);
    same('open', link.open, false);
    same('the channel', channel.open, false);
    isA('why the link went', lost[0], ConnectionLostError);
    isA('why the channel went', closed[0], ConnectionLostError);
    isA('why the subscription ended', consumer.ended[0], ConnectionLostError);
    same('a late ack', consumer.deliveries[0]?.ack(), false);
    await rejected('a question', link.checkQueue(queue), ConnectionLostError);
    await rejected('a consumer', stage.consume(queue, {}, link), ConnectionLostError);
    thrown(
      'a publish',
      () =>
        channel.publish(
          '',
          queue,
          outbound(),
          listener(() => {}),
        ),
      ConnectionLostError,
    );
    const again: Delivery = await stage.pull(queue);
    same(
      'taken back',
      { body: text(again), redelivered: again.redelivered },
      { body: 'a', redelivered: true },
    );
    await link.close();
    same('told once', [lost.length, closed.length, consumer.ended.length], [1, 1, 1]);
  }),

  given(['cut'], 'cuts what was published and not yet confirmed when its link is lost', async (stage) => {
    const { link, lost } = await stage.dial('cutting');
    const queue = await stage.queue('q');
    const channel = await link.openPublishChannel({ closed: () => {} });
    const ends: PublishEnd[] = [];
    for (let count = 0; count < 20; count += 1) {
      channel.publish(
        '',
        queue,
        outbound(),
        listener((end) => ends.push(end)),
      );
    }
    await stage.faults.cut?.((name) => name.endsWith('.cutting'));
    await until('the loss', () => lost.length > 0);
    same('ends, by the time that the loss is told', ends.length, 20);
    for (const end of ends) if (end.verdict === 'cut') isA('why', end.error, ConnectionLostError);
  }),

  given(['refused'], 'says that the broker refused a wrong password', async (stage) => {
    const wrong = stage.faults.refused?.();
    const error = await rejected('the attempt', wrong?.dial(request()) ?? Promise.resolve(), ConnectError);
    same('refused', error.refused, true);
    same('worth another try', error.retryable, false);
  }),

  given(['unreachable'], 'says that nobody was there, which may change', async (stage) => {
    const nobody = stage.faults.unreachable?.();
    const error = await rejected('the attempt', nobody?.dial(request()) ?? Promise.resolve(), ConnectError);
    same('refused', error.refused, false);
    same('worth another try', error.retryable, true);
  }),

  given(
    ['block', 'unblock'],
    'is told of an alarm at its first publish, which is answered when the alarm ends',
    async (stage) => {
      const queue = await stage.queue('q');
      const publisher = await stage.dial('publisher');
      const idle = await stage.dial('idle');
      const channel = await publisher.link.openPublishChannel({ closed: () => {} });
      same('before the alarm', (await send(channel, '', queue)).verdict, 'confirmed');
      await stage.faults.block?.('low on memory');
      same('nobody is told yet', [publisher.blocked, idle.blocked], [[], []]);
      const ends: PublishEnd[] = [];
      channel.publish(
        '',
        queue,
        outbound(),
        listener((end) => ends.push(end)),
      );
      await until('the news', () => publisher.blocked.length > 0);
      same('the words', publisher.blocked, ['low on memory']);
      let answered = false;
      const question = publisher.link.checkQueue(queue).then((state) => {
        answered = true;
        return state;
      });
      const consumer = await stage.consume(queue, {}, idle.link);
      await until('a link that does not publish goes on', () => consumer.deliveries.length === 1);
      consumer.deliveries[0]?.ack();
      same('what waits', [ends.length, answered, idle.blocked.length], [0, false, 0]);
      await stage.faults.unblock?.();
      await until('the confirm', () => ends.length === 1);
      same('the answer', ends, [{ verdict: 'confirmed', reason: '' }]);
      same('the question', (await question)?.consumers, 1);
      same('told once', [publisher.blocked.length, publisher.unblocked.count], [1, 1]);
    },
  ),

  given(
    ['block', 'unblock', 'cut'],
    'closes a link that is blocked without waiting for the alarm to end',
    async (stage) => {
      const queue = await stage.queue('q');
      const publisher = await stage.dial('publisher');
      const channel = await publisher.link.openPublishChannel({ closed: () => {} });
      await stage.faults.block?.('low on memory');
      const ends: PublishEnd[] = [];
      channel.publish(
        '',
        queue,
        outbound(),
        listener((end) => ends.push(end)),
      );
      await until('the news', () => publisher.blocked.length > 0);
      await publisher.link.close();
      same(
        'the publish has ended',
        ends.map((end) => end.verdict),
        ['cut'],
      );
      await stage.faults.unblock?.();
      holds('the link is closed', !publisher.link.open);
    },
  ),

  always('keeps a link that was refused something', async (stage) => {
    const link = await stage.main();
    for (let count = 0; count < 5; count += 1) {
      await rejected('a refusal', link.pull(stage.name('none')), BrokerRefusedError);
    }
    same('open', link.open, true);
    same('it goes on', await link.checkQueue(await stage.queue('q')), { messages: 0, consumers: 0 });
  }),
];
