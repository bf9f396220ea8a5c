import { topology } from '@acemq/core';
import { EVENT_PIPELINE_RUN_FINISHED, ATTR_RUN_AGE as OTEL_RUN_AGE } from '@acemq/otel';
import { describe, expect, test } from 'vitest';
import {
  ATTR_RUN_AGE,
  EVENT_RUN_FINISHED,
  end,
  type FollowSlipOptions,
  followSlip,
  next,
  Pipeline,
  startSlip,
} from '../../src/pipeline/index.ts';
import { onManualTime, onMemory, ownName, until } from './setting.ts';

test('the event has the name and the age that the tracing adapter gives it', () => {
  expect([EVENT_RUN_FINISHED, ATTR_RUN_AGE]).toEqual([EVENT_PIPELINE_RUN_FINISHED, OTEL_RUN_AGE]);
});

describe('a run is counted once, at the step that it leaves the pipeline at,', () => {
  test.each([
    ['completed at the last step, which hands it on', 'two', () => next(), 'completed'],
    ['completed at the last step, which ends it', 'two', () => end(), 'completed'],
    ['ended early at a step with others still to go', 'one', () => end(), 'ended_early'],
  ] as const)('%s', async (_, step, answer, outcome) => {
    const { mq, clock, metrics } = await onManualTime();
    const pipeline = new Pipeline(ownName(), ['one', 'two']);
    await pipeline.declare(mq);
    const events: unknown[] = [];
    mq.tracing = { ...mq.tracing, event: (...event) => events.push(event) };
    await pipeline.send(mq, {});
    await clock.advance(2_500);
    await pipeline.run(mq, { one: () => next(), two: () => next(), [step]: answer });
    const labels = `outcome="${outcome}",pipeline="${pipeline.name}",step="${step}"`;
    await until(() => expect(events).toHaveLength(1));
    const counted = [...metrics.counts].filter(([key]) => key.startsWith('acemq.pipeline.'));
    expect(counted).toEqual([[`acemq.pipeline.run.total{${labels}}`, 1]]);
    const durations = [...metrics.durations].filter(([key]) => key.startsWith('acemq.pipeline.'));
    expect(durations).toEqual([
      [`acemq.pipeline.run.duration{${labels}}`, expect.objectContaining({ count: 1, total: 2.5 })],
    ]);
    expect(events).toEqual([
      [
        'pipeline.run_finished',
        { pipeline: pipeline.name, step, outcome, 'messaging.acemq.run_age_ms': 2_500 },
      ],
    ]);
  });
});

test('a run that is retried, rejected or parked has not left the pipeline', async () => {
  const { mq, metrics } = await onMemory();
  const pipeline = new Pipeline(ownName(), ['one']);
  await pipeline.declare(mq);
  await pipeline.follow(mq, 'one', () => Promise.reject(new Error('no')));
  await pipeline.send(mq, {});
  await until(async () => expect(await mq.messageCount(`${pipeline.queue('one')}.dlq`)).toBe(1));
  expect([...metrics.counts.keys()].filter((key) => key.startsWith('acemq.pipeline.'))).toEqual([]);
});

test('the clocks of two machines disagree, and a run is still not younger than nothing', async () => {
  const { mq, metrics } = await onMemory();
  const pipeline = new Pipeline(ownName(), ['one']);
  await pipeline.declare(mq);
  await pipeline.follow(mq, 'one', () => next());
  await mq.publishRaw(pipeline.name, 'one', {
    body: Buffer.from('1'),
    headers: { 'x-acemq-first-seen': Date.now() + 3_600_000 },
  });
  await until(() => {
    const [duration] = [...metrics.durations].filter(([key]) => key.startsWith('acemq.pipeline.'));
    expect(duration?.[1]).toMatchObject({ count: 1, total: 0 });
  });
});

test.each<[string, FollowSlipOptions, string]>([
  ['the option pipeline', { pipeline: 'returns' }, 'returns'],
  ['the exchange of its stop', {}, 'orders'],
  ['nothing, where its stop has none', {}, ''],
])('a run with its own stops is counted under %s', async (_, options, pipeline) => {
  const { mq, metrics } = await onMemory();
  await mq.declare(topology().exchange('orders', 'fanout').queue('q').bind('q', 'orders'));
  await followSlip(mq, 'q', () => next(), options);
  const stop = pipeline === '' ? { exchange: '', routingKey: 'q' } : { exchange: 'orders', routingKey: '' };
  await startSlip(mq, [stop], {});
  const labels = `outcome="completed",pipeline="${pipeline}",step="${pipeline === '' ? 'q' : 'orders'}"`;
  await until(() => expect(metrics.counts.get(`acemq.pipeline.run.total{${labels}}`)).toBe(1));
});
