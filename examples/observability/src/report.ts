import { healthPage } from './health-page.ts';
import type { Names } from './names.ts';
import { numbersPage } from './numbers-page.ts';
import { ORDERS, TRACED } from './orders.ts';
import type { Placed } from './placing.ts';
import { tracePage } from './trace-page.ts';

/** What the endpoints answered. */
export interface Scraped {
  readonly metrics: string;
  readonly ready: { readonly status: number; readonly body: string };
  readonly live: number;
}

/** The head of the report. */
export function opening({ prefix }: Names, url: string, broker: string): string {
  return `A shop on ${broker}.
Its names begin with ${prefix} and are shown without it.

  ${url}/metrics   its numbers, for Prometheus
  ${url}/ready     200 while it may be sent work, else 503
  ${url}/live      200 while the process runs

`;
}

/** What the run showed. */
export function report({ prefix, ...names }: Names, scraped: Scraped, placed: Placed): string {
  const { metrics, ready, live } = scraped;
  return `${ORDERS.length} orders were placed: four are packed at once, one at its second attempt,
one never (a dead letter), and one is parked for a person. One event reached
no queue, and its send was refused with ${placed.unroutable}.

Numbers, out of /metrics

${numbersPage(metrics, { prefix, ...names })}

Health, as /ready says it (${ready.status}); /live says ${live}

${healthPage(ready.body)}

The trace of ${TRACED}, which failed once

${tracePage(placed.trace, prefix)}
`;
}

/** What a Prometheus has to be told. */
export function serving(url: string): string {
  return `
Orders go on until Ctrl-C. A Prometheus scrapes them with:

  scrape_configs:
    - job_name: shop
      scrape_interval: 5s
      static_configs:
        - targets: ['${url.replace('http://', '')}']
`;
}

/** The last line of a run that served. */
export function closing(placed: number): string {
  return `\n${placed} more orders were placed; the queues are removed.\n`;
}
