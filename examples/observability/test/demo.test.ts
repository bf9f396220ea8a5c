import { expect, test } from 'vitest';
import { expectReport } from './report.ts';
import { addressIn, ran, started } from './running.ts';

test('on the in-memory broker it prints the numbers of what it sent, its health and one trace, and ends with 0', async () => {
  const { code, out, err } = await ran();
  expect(err).toBe('');
  expectReport(out);
  expect(out).toContain('on the in-memory broker');
  expect(code).toBe(0);
});

test('with --serve it goes on until Ctrl-C, and its numbers rise', async () => {
  const running = started(['--serve', '--every', '20ms']);
  const address = addressIn(await running.until('scrape_configs'));
  const placed = async (): Promise<number> => {
    const body = await (await fetch(`http://${address}/metrics`)).text();
    return Number(/^acemq_publish_total{.*routing_key="order.placed".*} (\d+)$/m.exec(body)?.[1]);
  };
  const before = await placed();
  await expect.poll(placed, { timeout: 10_000 }).toBeGreaterThan(before);
  expect((await fetch(`http://${address}/ready`)).status).toBe(200);
  expect((await fetch(`http://${address}/live`)).status).toBe(200);
  expect((await fetch(`http://${address}/`)).status).toBe(404);
  running.child.kill('SIGINT');
  const { code, out, err } = await running.ended;
  expect(err).toBe('');
  expect(code).toBe(0);
  expect(out).toMatch(/^[1-9]\d* more orders were placed; the queues are removed\.$/m);
});

test.each([
  [['--sevre'], '--sevre'],
  [['--serve', '--every'], '--every'],
  [['--serve', '--every', 'soon'], 'soon'],
  [['--serve', '--every', '1s', 'more'], 'more'],
])('%j is refused', async (args, words) => {
  const { code, out, err } = await started(args).ended;
  expect(code).toBe(2);
  expect(out).toBe('');
  expect(err).toContain(words);
});
