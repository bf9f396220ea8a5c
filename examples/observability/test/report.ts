import { expect } from 'vitest';
import { RETRIES } from '../src/names.ts';
import { ORDERS } from '../src/orders.ts';
import { figure, prefixIn } from './running.ts';

const parked = ORDERS.filter(({ unusual }) => unusual).length;
const failing = ORDERS.filter(({ fails }) => fails >= RETRIES.maxAttempts).length;
const retried = ORDERS.filter(({ fails }) => fails > 0).length;
const packed = ORDERS.length - parked - failing;

/** What one run reports, held against what the orders say of themselves. */
export function expectReport(out: string): void {
  const consumed = (labels: string): number => figure(out, 'acemq_consume_total', labels);
  const published = (labels: string): number =>
    figure(out, 'acemq_publish_total', `exchange=events  ${labels}`);
  const dead = (labels: string): number => figure(out, 'acemq_messages_dead_lettered_total', labels);
  expect(published('outcome=confirmed  routing_key=order.placed')).toBe(ORDERS.length);
  expect(published('outcome=confirmed  routing_key=parcel.packed')).toBe(packed);
  expect(published('outcome=unroutable  routing_key=order.cancelled')).toBe(1);
  expect(consumed('outcome=acked  queue=orders')).toBe(packed);
  expect(consumed('outcome=acked  queue=parcels')).toBe(packed);
  expect(consumed('outcome=dead_lettered  queue=orders')).toBe(failing);
  expect(consumed('outcome=parked  queue=orders')).toBe(parked);
  expect(consumed('outcome=retried  queue=orders')).toBe(retried);
  expect(figure(out, 'acemq_messages_retried_total', 'queue=orders  where=broker')).toBe(retried);
  expect(dead('outcome=dead_lettered  queue=orders')).toBe(failing);
  expect(dead('outcome=parked  queue=orders')).toBe(parked);
  const deliveries = ORDERS.length + retried;
  const attempts = deliveries + retried; // Each retry is one delivery more, of attempt 2.
  expect(out).toContain(`is attempt ${(attempts / deliveries).toFixed(2)} on average`);

  expect(out).toContain(
    'Health, as /ready says it (200); /live says 200\n\n  up\n    broker            up\n',
  );
  expect(out).toMatch(/^ {6}consumers {7}2$/m);
  expect(out).toMatch(/^ {6}round-trip {6}[\d.]+$/m);

  expect(shapeOf(out)).toEqual([
    'checkout INTERNAL',
    '└─ events publish PRODUCER confirmed',
    '   ├─ queue.wait INTERNAL',
    '   ├─ orders process CONSUMER retried (attempt 1)',
    '   │    * exception: the warehouse does not answer',
    '   │    * message.retried: comes again after 200 ms',
    '   └─ orders process CONSUMER acked (attempt 2)',
    '      └─ events publish PRODUCER confirmed',
    '         ├─ queue.wait INTERNAL',
    '         └─ parcels process CONSUMER acked (attempt 1)',
  ]);
  expect(out.split('\n').filter((line) => line.length > 80)).toEqual([]);
  expect(prefixIn(out)).toMatch(/^shop-\w{8}\.$/);
}

/** The tree without its times. */
function shapeOf(out: string): string[] {
  const tree = out.slice(out.indexOf('\n  checkout') + 1).split('\n\n')[0] ?? '';
  const lines = tree.trimEnd().split('\n');
  return lines.map((line) =>
    line
      .slice(2)
      .replace(/ +([A-Z]+) +\+\d+ +[\d.]+ */, ' $1 ')
      .trimEnd(),
  );
}
