import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PrometheusServer, startPrometheus } from '../src/index.ts';

let page: Server;
let prometheus: PrometheusServer;

beforeAll(async () => {
  page = createServer((_request, response) => response.end('# TYPE tried gauge\ntried{a="b"} 7\n'));
  await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve));
  const { port } = page.address() as AddressInfo;
  prometheus = await startPrometheus({ targets: [{ job: 'page', address: `127.0.0.1:${port}` }] });
});

afterAll(async () => {
  await prometheus?.close();
  page.close();
});

describe('a Prometheus of one test', () => {
  it('scrapes the page, and answers with labels and numbers', async () => {
    const [sample] = await prometheus.until('tried');
    expect(sample).toMatchObject({ value: 7, labels: { a: 'b', job: 'page' } });
    expect(await prometheus.query('scalar(tried) / 0')).toEqual([{ labels: {}, value: Infinity }]);
  });

  it('says what it thinks of an expression that is none', async () => {
    await expect(prometheus.query('sum(')).rejects.toThrow('Prometheus refused sum(: ');
  });

  it('has ended once it is closed, and can be closed twice', async () => {
    const other = await startPrometheus({ targets: [] });
    await other.close();
    await other.close();
    await expect(fetch(`${other.url}/-/ready`)).rejects.toThrow();
    expect(() => process.kill(other.pid, 0)).toThrow('ESRCH');
  });
});
