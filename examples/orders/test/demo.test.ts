import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { memoryBroker } from '@acemq/testing';
import { beforeAll, expect, test } from 'vitest';
import { figure, orderLine, type Ran, ran } from './running.ts';

const file = fileURLToPath(new URL('../orders.ndjson', import.meta.url));
const broker = memoryBroker();
let demo: Ran;

/** What the file says of its orders, read here without the program's help. */
const lines = readFileSync(file, 'latin1').trimEnd().split('\n');
const failing = (fails: unknown): number =>
  lines.filter((line) => line.includes(`"fails":${JSON.stringify(fails)}`)).length;
const once = failing(1);
const twice = failing(2);
const thrice = failing(3);
const always = failing('always');
const NOT_JSON = 5;
const NEED_APPROVAL = 6;
const REFUSED = 10;

beforeAll(async () => {
  demo = await ran({ source: file, target: broker });
});

test('the shipped file has at least 200 orders, and some of every fate', () => {
  expect(lines.length).toBeGreaterThanOrEqual(200);
  expect([once, twice, thrice, always].every((count) => count > 0)).toBe(true);
});

test('the demo ends with 0 on the in-memory broker and complains of nothing', () => {
  expect(demo.err).toBe('');
  expect(demo.code).toBe(0);
});

test('the table says what the file holds', () => {
  const { out } = demo;
  expect(figure(out, 'read')).toBe(lines.length);
  expect(figure(out, 'published')).toBe(lines.length);
  expect(figure(out, 'dead-lettered')).toBe(REFUSED + always);
  expect(figure(out, 'parked')).toBe(NEED_APPROVAL + NOT_JSON);
  expect(figure(out, 'handled')).toBe(lines.length - REFUSED - always - NEED_APPROVAL - NOT_JSON);
});

test('every order that fails waits once in the consumer, and from then on in the broker', () => {
  const consumer = once + twice + thrice + always;
  const inBroker = twice + 2 * thrice + 2 * always;
  expect(figure(demo.out, 'retried')).toBe(consumer + inBroker);
  expect(demo.out).toContain(`${consumer} waited in the consumer, ${inBroker} in the broker`);
});

test('the dead letters and the parked messages are shown by what became of them, with reasons', () => {
  expect(demo.out).toContain(`  the handler rejected it (${REFUSED})\n`);
  expect(demo.out).toContain(`  exhausted 4 attempts (${always})\n`);
  expect(demo.out).toContain('PaymentServiceDown: no answer from the payment service');
  expect(demo.out).toContain(`  the handler parked it (${NEED_APPROVAL})\n`);
  expect(demo.out).toContain(`  could not be decoded (${NOT_JSON})\n`);
});

test('the scrape agrees with the table', () => {
  const total = (outcome: string): number =>
    Number(new RegExp(`^acemq_consume_total{outcome="${outcome}".*} (\\d+)$`, 'm').exec(demo.out)?.[1]);
  expect(total('acked')).toBe(figure(demo.out, 'handled'));
  expect(total('retried')).toBe(figure(demo.out, 'retried'));
  expect(total('rejected') + total('dead_lettered')).toBe(figure(demo.out, 'dead-lettered'));
  expect(total('parked')).toBe(figure(demo.out, 'parked'));
});

test('the figures of the scrape that differ from the account are explained', () => {
  const sent = lines.length - NOT_JSON;
  expect(demo.out).toContain(`${NOT_JSON} lines are not JSON and went out unchanged`);
  expect(demo.out).toContain(`acemq_publish_total has ${sent}: ${NOT_JSON} went out by publishRaw`);
  expect(demo.out).toMatch(new RegExp(`^acemq_publish_total{.*outcome="confirmed".*} ${sent}$`, 'm'));
  expect(demo.out).toContain(
    `${always} out of attempts (dead_lettered) + ${REFUSED} refused (rejected) = ${REFUSED + always}.`,
  );
});

test('the scrape is shown without its durations, and whole when that is asked for', async () => {
  const left = Number(/^… and (\d+) lines of durations; --scrape prints all\n$/m.exec(demo.out)?.[1]);
  expect(demo.out).not.toContain('acemq_consume_duration');
  const { out } = await ran({ target: memoryBroker(), wholeScrape: true }, orderLine());
  expect(left).toBeGreaterThan(out.match(/^.*_duration.*$/gm)?.length ?? Number.POSITIVE_INFINITY);
  expect(out).not.toContain('--scrape');
});

test('all but the scrape fits into 80 columns', () => {
  const report = demo.out.slice(0, demo.out.indexOf('# TYPE'));
  expect(report.split('\n').filter((line) => line.length > 80)).toEqual([]);
});

test('no queue is left behind', () => {
  expect(broker.queues).toEqual([]);
});
