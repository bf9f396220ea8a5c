import { connect } from '@acemq/amqp';
import { accept, inProgress, park, reject, retry, topology } from '@acemq/core';
import { Metrics } from '@acemq/observe';
import { memoryBroker } from '@acemq/testing';
import { expect, it, vi } from 'vitest';
import { BacklogExporter, ConsumedJobs } from '../src/index.ts';

it('counts what was accepted, and nothing that was given back or given up', async () => {
  const mq = await connect(memoryBroker());
  const observer = new Metrics();
  const consumed = new ConsumedJobs({ connection: mq, observer });
  await mq.declare(topology().queue('renders').queue('mails'));
  expect([consumed.completed('renders'), consumed.latestFirstSeen('renders')]).toEqual([
    undefined,
    undefined,
  ]);
  const answers = [accept(), retry(), reject('no'), park('no'), inProgress(), accept()];
  const before = Date.now();
  let handled = 0;
  await mq.consume('renders', () => answers[handled++] ?? accept());
  await mq.consume('mails', () => accept());
  for (let n = 0; n < answers.length; n += 1) await mq.publisher({ routingKey: 'renders' }).send(n);
  await mq.publisher({ routingKey: 'mails' }).send(1);
  await vi.waitFor(() => expect(handled).toBeGreaterThanOrEqual(answers.length));
  await vi.waitFor(() =>
    expect(observer.counts).toEqual(
      new Map([
        ['jobs_completed_total{kind="mails"}', 1],
        ['jobs_completed_total{kind="renders"}', 2],
      ]),
    ),
  );
  expect(consumed.completed('renders')).toBe(2);
  expect(consumed.latestFirstSeen('renders')).toBeGreaterThanOrEqual(before);
  consumed.close();
  await mq.publisher({ routingKey: 'mails' }).send(2);
  await mq.close();
  expect(consumed.completed('mails')).toBe(1);
});

it('has the label names of the exporter beside it', async () => {
  const mq = await connect(memoryBroker());
  const observer = new Metrics();
  const source = { name: 'queue "renders"', read: () => Promise.reject(new Error('no')) };
  new BacklogExporter({ source, observer, labels: { site: 'north' } });
  expect(() => new ConsumedJobs({ connection: mq, observer })).toThrow(
    'the count of consumed jobs has the labels () and the exporter of queue "renders", on the same observer, (site)',
  );
  expect(() => new ConsumedJobs({ connection: mq, observer, labels: { site: 'north' } })).not.toThrow();
  await mq.close();
});
