import { accept, exponential, fixed, park, reject, retry, topology } from '@acemq/core';
import { describe, expect, test, vi } from 'vitest';
import { onManualTime, onMemory, type Setting } from './setting.ts';

function count(setting: Setting, key: string): number {
  return setting.metrics.counts.get(key) ?? 0;
}

function total(setting: Setting, outcome: string): number {
  return count(setting, `acemq.consume.total{outcome="${outcome}",queue="${setting.queue}"}`);
}

describe('a missing rung', () => {
  test('is counted and logged, the message waits here for the same time, and goes on with its next attempt', async () => {
    const setting = await onManualTime();
    const { mq, queue, clock, broker, log } = setting;
    const policy = exponential(2, '40s', '5m');
    await mq.declare(topology().queue(queue, { deadLetter: true }));
    const attempts: number[] = [];
    await mq.consume(
      queue,
      ({ envelope }) => {
        attempts.push(envelope.attempt);
        return envelope.attempt === 1 ? retry(new Error('down')) : accept();
      },
      { retry: policy },
    );
    await mq.deleteQueue(`${queue}.retry.40s`);
    await mq.publisher({ routingKey: queue }).send({});
    await clock.advance(39_900);
    expect(attempts).toEqual([1]);
    const missing = `acemq.retry.rung.missing{queue="${queue}",rung="${queue}.retry.40s"}`;
    expect(count(setting, missing)).toBe(1);
    const [line] = log.filter(({ level }) => level === 'error');
    expect(line?.details).toMatchObject({ rung: `${queue}.retry.40s`, wait: '40s' });
    expect(line?.message).toContain(`topology().queue("${queue}", { retry: policy })`);
    await clock.advance(200);
    expect(attempts).toEqual([1, 2]);
    expect(count(setting, `acemq.messages.retried.total{queue="${queue}",where="consumer"}`)).toBe(1);
    expect(broker.depth(queue)).toBe(0);
  });

  test('for a wait of hours is cut to a quarter of an hour, and the log says so', async () => {
    const setting = await onManualTime();
    const { mq, queue, clock, log } = setting;
    const policy = fixed(2, '2h');
    await mq.declare(topology().queue(queue));
    const attempts: number[] = [];
    await mq.consume(
      queue,
      ({ envelope }) => {
        attempts.push(envelope.attempt);
        return retry(new Error('down'));
      },
      { retry: policy },
    );
    await mq.deleteQueue(`${queue}.retry.2h`);
    await mq.publisher({ routingKey: queue }).send({});
    await clock.advance(15 * 60_000 + 100);
    expect(attempts).toEqual([1, 2]);
    expect(log.find(({ level }) => level === 'error')?.details).toMatchObject({
      wait: '15m',
      insteadOf: '2h',
    });
  });
});

describe('a set-aside that the broker will not have', () => {
  test('is counted, logged and rejected to the dead-letter exchange of the queue', async () => {
    const setting = await onMemory();
    const { mq, queue, broker, log } = setting;
    await mq.declare(
      topology()
        .exchange('net', 'fanout')
        .queue(queue, { arguments: { 'x-dead-letter-exchange': 'net' } })
        .queue(`${queue}.net`)
        .bind(`${queue}.net`, 'net'),
    );
    await mq.consume(queue, () => reject(new Error('bad')));
    await mq.deleteQueue(`${queue}.dlq`);
    await mq.publisher({ routingKey: queue }).send({});
    await vi.waitFor(() => expect(broker.depth(`${queue}.net`)).toBe(1));
    expect(count(setting, `acemq.messages.set.aside.failed{queue="${queue}",target="${queue}.dlq"}`)).toBe(1);
    expect(
      count(setting, `acemq.messages.dead.lettered.total{outcome="dead_lettered",queue="${queue}"}`),
    ).toBe(1);
    expect(log.find(({ level }) => level === 'error')?.details).toMatchObject({ target: `${queue}.dlq` });
  });

  test('for lack of room is held, counted and logged once, and placed when there is room', async () => {
    const setting = await onManualTime();
    const { mq, queue, clock, broker, log } = setting;
    await mq.declare(topology().queue(queue, { deadLetter: true }));
    let handled = 0;
    const consumer = await mq.consume(queue, () => {
      handled += 1;
      return park('odd');
    });
    broker.nackNext(3, `${queue}.parked`);
    await mq.publisher({ routingKey: queue }).send({});
    await clock.advance(1);
    const failed = `acemq.messages.set.aside.failed{queue="${queue}",target="${queue}.parked"}`;
    expect(count(setting, failed)).toBe(1);
    expect(consumer.held).toBe(1);
    await clock.advance(30_000);
    expect(broker.depth(`${queue}.parked`)).toBe(1);
    expect(broker.depth(`${queue}.dlq`)).toBe(0);
    expect(handled).toBe(1);
    expect(consumer.inFlight).toBe(0);
    expect(count(setting, failed)).toBe(1);
    expect(log.filter(({ level }) => level === 'error').map(({ details }) => details)).toEqual([
      expect.objectContaining({ target: `${queue}.parked`, reason: 'the broker answered with a nack' }),
    ]);
  });
});

describe('a retry whose own queue has gone', () => {
  test('gives the delivery back and says so', async () => {
    const setting = await onManualTime();
    const { mq, queue, clock, broker } = setting;
    await mq.declare(topology().queue(queue));
    await mq.consume(queue, () => retry(new Error('no')), { retry: fixed(2, '1s') });
    await mq.publisher({ routingKey: queue }).send({});
    await clock.advance(500);
    broker.nackNext(1, queue);
    await clock.advance(600);
    expect(count(setting, `acemq.messages.retried.total{queue="${queue}",where="requeued"}`)).toBe(1);
    await clock.advance(5_000);
    expect(total(setting, 'dead_lettered')).toBe(1);
    expect(broker.depth(`${queue}.dlq`)).toBe(1);
  });
});

describe('a copy about which the broker says nothing', () => {
  test('under an alarm holds the delivery: handler and counters once, placed when the alarm ends', async () => {
    const setting = await onManualTime();
    const { mq, queue, clock, broker, log } = setting;
    await mq.declare(topology().queue(queue, { arguments: { 'x-delivery-limit': 5 } }));
    let handled = 0;
    const consumer = await mq.consume(queue, () => {
      handled += 1;
      return reject(new Error('bad'));
    });
    await mq.publisher({ routingKey: queue }).send({});
    await vi.waitFor(() => expect(broker.depth(`${queue}.dlq`)).toBe(1));
    await mq.publisher({ routingKey: queue }).send({});
    broker.block('low on memory');
    await clock.advance(1);
    // The alarm is known now, or is with the copy that was written into it.
    await clock.advance(60_000);
    const before = broker.depth(`${queue}.dlq`);
    if (before === 1) expect(consumer.held).toBe(1);
    broker.unblock();
    await clock.advance(31_000);
    expect(handled).toBe(2);
    expect(broker.depth(`${queue}.dlq`)).toBe(2);
    expect(broker.depth(queue)).toBe(0);
    expect(consumer.held).toBe(0);
    expect(consumer.inFlight).toBe(0);
    expect(total(setting, 'rejected')).toBe(2);
    expect(log.filter(({ level }) => level === 'error')).toEqual([]);
  });

  test('with the publishing link down holds it, other messages go on, and it is placed when the link is back', async () => {
    const setting = await onManualTime();
    const { mq, queue, clock, broker } = setting;
    await mq.declare(topology().queue(queue));
    const handled: unknown[] = [];
    const consumer = await mq.consume<string>(queue, ({ payload }) => {
      handled.push(payload);
      return payload === 'bad' ? reject('bad') : accept();
    });
    await mq.publisher({ routingKey: queue }).sendAll(['bad', 'good']);
    await clock.advance(1);
    expect(broker.depth(`${queue}.dlq`)).toBe(1);
    broker.refuseDials('unreachable');
    broker.dropLinks({ name: (name) => name.endsWith('publish') });
    await clock.advance(1);
    broker.acceptDials();
    broker.refuseDials('unreachable', 3);
    const sender = await onMemory({ name: 'other' }, broker).catch(() => undefined);
    expect(sender).toBeUndefined();
    await clock.advance(60_000);
    expect(mq.state).toBe('connected');
    await mq.publisher({ routingKey: queue }).sendAll(['bad', 'good']);
    await clock.advance(1);
    expect(handled).toEqual(['bad', 'good', 'bad', 'good']);
    expect(broker.depth(`${queue}.dlq`)).toBe(2);
    expect(consumer.held).toBe(0);
  });

  test('goes with its channel when the consuming link is lost: the broker delivers it again, and nothing is copied twice', async () => {
    const setting = await onManualTime({ reconnect: { initial: 100, max: 100 } });
    const { mq, queue, clock, broker } = setting;
    await mq.declare(topology().queue(queue));
    const seen: [number, boolean][] = [];
    await mq.consume(
      queue,
      ({ envelope, redelivered }) => {
        seen.push([envelope.attempt, redelivered]);
        return seen.length === 1 ? retry(new Error('later')) : accept();
      },
      { retry: fixed(3, '20s') },
    );
    await mq.publisher({ routingKey: queue }).send({});
    await clock.advance(5_000);
    expect(seen).toEqual([[1, false]]);
    broker.dropLinks({ name: (name) => name.endsWith('consume') });
    await clock.advance(1_000);
    expect(seen).toEqual([
      [1, false],
      [1, true],
    ]);
    await clock.advance(60_000);
    expect(seen).toHaveLength(2);
    expect(broker.depth(queue)).toBe(0);
    expect(setting.metrics.gauges.get(`acemq.consume.in.flight{queue="${queue}"}`)).toBe(0);
  });

  test('a handler that ends after its channel has gone settles nothing, and that is counted', async () => {
    const setting = await onMemory({ reconnect: { initial: 1, max: 1 } });
    const { mq, queue, broker } = setting;
    await mq.declare(topology().queue(queue));
    const gates: ((value: undefined) => void)[] = [];
    const consumer = await mq.consume(queue, async () => {
      await new Promise<undefined>((resolve) => gates.push(resolve));
      return accept();
    });
    await mq.publisher({ routingKey: queue }).send({});
    await vi.waitFor(() => expect(gates).toHaveLength(1));
    broker.dropLinks();
    await vi.waitFor(() => expect(consumer.running).toBe(true));
    gates[0]?.(undefined);
    await vi.waitFor(() => expect(gates).toHaveLength(2));
    expect(consumer.lateSettlements).toBe(1);
    gates[1]?.(undefined);
    await vi.waitFor(() => expect(consumer.inFlight).toBe(0));
    expect(broker.depth(queue)).toBe(0);
    expect(total(setting, 'acked')).toBe(2);
  });
});
