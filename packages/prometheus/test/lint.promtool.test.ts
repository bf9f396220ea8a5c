import { execFile } from 'node:child_process';
import { METRICS, Metrics, prometheusText } from '@acemq/observe';
import { describe, expect, it } from 'vitest';
import { clients } from './clients.ts';
import { writeEveryMetric } from './every-metric.ts';

/** What `promtool check metrics` has to say of a scrape body, sorted. */
function remarksOn(body: string): Promise<string[]> {
  const program = process.env['PROMTOOL_PROGRAM'];
  if (program === undefined) throw new Error('PROMTOOL_PROGRAM does not name promtool');
  return new Promise((resolve, reject) => {
    const child = execFile(program, ['check', 'metrics'], (error, stdout, stderr) => {
      const lines = `${stdout}${stderr}`.split('\n').filter((line) => line !== '');
      // It ends with 3 where it has remarks, and with 1 where it cannot read the body.
      if (error !== null && error.code !== 3) reject(new Error(lines.join('\n'), { cause: error }));
      else resolve(lines.sort());
    });
    child.stdin?.end(body);
  });
}

/** The names that the family gives to two counters, which do not end as Prometheus advises. */
const FAMILY_NAMES = [
  'acemq_messages_set_aside_failed counter metrics should have "_total" suffix',
  'acemq_retry_rung_missing counter metrics should have "_total" suffix',
];

describe('promtool', () => {
  it.each(clients)('has nothing to say of a body of $name but the two family names', async (client) => {
    const own = client.registry();
    writeEveryMetric(client.observer({ registry: own }));
    expect(await remarksOn(await own.metrics())).toEqual(FAMILY_NAMES);
  });

  it('misses the help in the text of observe, which has none, and nothing more', async () => {
    const metrics = new Metrics();
    writeEveryMetric(metrics);
    const missing = METRICS.map(({ name }) => `${name.replaceAll('.', '_')} no help text`);
    expect(await remarksOn(prometheusText(metrics))).toEqual([...FAMILY_NAMES, ...missing].sort());
  });

  it('refuses what is no body, so that its silence means something', async () => {
    await expect(remarksOn('acemq.publish.total 1\n')).rejects.toThrow('error while linting');
  });
});
