import { Metrics } from '@acemq/observe';
import { expect, it } from 'vitest';
import { BacklogExporter, StreamSource } from '../src/index.ts';
import { fill, ioredis, ownStream } from './redis.ts';

it('the panel of the night, from a real stream', async () => {
  const redis = ioredis();
  const stream = await ownStream(redis);
  await fill(redis, stream, 'render_tickets', 300, Date.now() - 61_000);
  const metrics = new Metrics();
  const exporter = new BacklogExporter({
    source: new StreamSource({ client: redis, stream, group: 'workers' }),
    observer: metrics,
    labels: { stream },
  });
  await exporter.read();
  // jobs_depth{kind="render_tickets"} 300      # lag + pending, by kind
  expect(metrics.gauges.get(`jobs_depth{kind="render_tickets",stream="${stream}"}`)).toBe(300);
  // jobs_oldest_age_seconds{kind="render_tickets"} 61       # now - timestamp of the oldest unfinished id
  const age = metrics.gauges.get(`jobs_oldest_age_seconds{kind="render_tickets",stream="${stream}"}`);
  expect(age).toBeGreaterThanOrEqual(61);
  expect(age).toBeLessThan(65);
  // jobs_dead_length 0      # XLEN jobs:dead
  expect(metrics.gauges.get(`jobs_dead_length{stream="${stream}"}`)).toBe(0);
  exporter.close();
});
