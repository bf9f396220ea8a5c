import { ConfigurationError } from '@acemq/core';
import { METRIC_CONSUME_IN_FLIGHT, METRIC_CONSUME_TOTAL } from '@acemq/observe';
import { describe, expect, it } from 'vitest';
import { clients, linesOf } from './clients.ts';

describe.each(clients)('a metric that is not of the library, with $name', ({ observer, registry }) => {
  it('gets the labels of its first sample, the duration buckets, and a line of help', async () => {
    const own = registry();
    const written = observer({ registry: own, buckets: [1], attemptBuckets: [7] });
    written.observe('shop.checkout-time', 2, { 'payment.kind': 'card' });
    written.count('2fa', 1, {});
    expect(await linesOf(own)).toEqual([
      '# HELP shop_checkout_time The distribution shop.checkout-time, as the application reports it.',
      '# TYPE shop_checkout_time histogram',
      'shop_checkout_time_bucket{le="1",payment_kind="card"} 0',
      'shop_checkout_time_bucket{le="+Inf",payment_kind="card"} 1',
      'shop_checkout_time_sum{payment_kind="card"} 2',
      'shop_checkout_time_count{payment_kind="card"} 1',
      '# HELP _2fa The counter 2fa, as the application reports it.',
      '# TYPE _2fa counter',
      '_2fa 1',
    ]);
  });

  it('keeps the text of its label values, escaped as the format asks', async () => {
    const own = registry();
    observer({ registry: own }).count('m', 1, { v: 'a.b-c\\"\n{é}' });
    expect(await linesOf(own, 'm{')).toEqual(['m{v="a.b-c\\\\\\"\\n{é}"} 1']);
  });

  it('is refused a sample with other labels, before and after', () => {
    const written = observer({ registry: registry() });
    written.count('m', 1, { a: '1' });
    const message =
      'm has the labels a, and a sample came with b: all samples of a metric must have the same labels';
    expect(() => written.count('m', 1, { b: '1' })).toThrow(ConfigurationError);
    expect(() => written.count('m', 1, { b: '1' })).toThrow(message);
    expect(() => written.count('m', 1, {})).toThrow('a sample came with none');
  });

  it('is refused a name that two of them would share', () => {
    const written = observer({ registry: registry() });
    written.count('a.b', 1, {});
    expect(() => written.count('a_b', 1, {})).toThrow(
      'the counter a_b would be a_b in the registry, which is the counter a.b',
    );
    expect(() => written.gauge('a.b', 1, {})).toThrow('which is the counter a.b');
    expect(() => written.count('m', 1, { 'x.y': '1', x_y: '2' })).toThrow(
      'm has two labels that Prometheus would call x_y',
    );
  });

  it('is refused the labels that Prometheus has for itself', async () => {
    const own = registry();
    const written = observer({ registry: own });
    for (let n = 0; n < 2; n += 1) {
      expect(() => written.observe('m', 1, { le: '1' })).toThrow(
        'm has a label le, a name that Prometheus has for itself',
      );
    }
    const reserved = { ['__proto__']: '1' };
    expect(() => written.count('n', 1, reserved)).toThrow('n has a label __proto__, a name that');
    written.count('c', 1, { le: '1' });
    expect(await linesOf(own, 'c{')).toEqual(['c{le="1"} 1']);
  });
});

describe.each(clients)('a sample that does not fit, with $name', ({ observer, registry }) => {
  it('says that a wrong label is not the doing of the application', () => {
    const written = observer({ registry: registry() });
    expect(() => written.count(METRIC_CONSUME_TOTAL, 1, { queue: 'q' })).toThrow(
      'acemq.consume.total has the labels outcome, queue, and a sample came with queue: this is a bug in the @acemq package that wrote it',
    );
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, -1])('counts nothing for %s', async (delta) => {
    const own = registry();
    const written = observer({ registry: own });
    const labels = { queue: 'q', outcome: 'acked' };
    expect(() => written.count(METRIC_CONSUME_TOTAL, delta, labels)).toThrow(ConfigurationError);
    written.count(METRIC_CONSUME_TOTAL, 2, labels);
    expect(await linesOf(own, 'acemq')).toEqual(['acemq_consume_total{outcome="acked",queue="q"} 2']);
  });

  it('takes no gauge and no duration that is infinite', () => {
    const written = observer({ registry: registry() });
    expect(() => written.gauge(METRIC_CONSUME_IN_FLIGHT, Number.POSITIVE_INFINITY, { queue: 'q' })).toThrow(
      'acemq.consume.in.flight was set to Infinity; a finite number or NaN is allowed',
    );
    expect(() => written.observe('m', Number.NEGATIVE_INFINITY, {})).toThrow('m was given -Infinity');
  });

  it('scrapes a gauge that nobody knows as NaN', async () => {
    const own = registry();
    const written = observer({ registry: own });
    written.gauge(METRIC_CONSUME_IN_FLIGHT, 7, { queue: 'q' });
    written.gauge(METRIC_CONSUME_IN_FLIGHT, Number.NaN, { queue: 'q' });
    // Both clients write Nan, which Prometheus reads in any case of its letters.
    expect(await linesOf(own, 'acemq')).toEqual([
      expect.stringMatching(/^acemq_consume_in_flight\{queue="q"\} nan$/i),
    ]);
  });
});
