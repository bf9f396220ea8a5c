import { ConfigurationError } from '@acemq/core';
import { describe, expect, it } from 'vitest';
import type { PrometheusObserverOptions } from '../src/index.ts';
import { installedClient } from '../src/installed-client.ts';
import { clients } from './clients.ts';

const refused: readonly [options: object, message: string][] = [
  [{ buckets: [1, 0.5] }, 'buckets must rise, and has 0.5 after 1'],
  [{ buckets: [1, 1] }, 'buckets must rise, and has 1 after 1'],
  [{ buckets: [1, Number.NaN, 2] }, 'buckets has NaN; finite numbers are allowed'],
  [{ buckets: [1, Number.POSITIVE_INFINITY] }, 'buckets has Infinity; finite numbers are allowed'],
  [{ buckets: ['1'] }, 'buckets has "1"; finite numbers are allowed'],
  [{ buckets: [] }, 'buckets is an empty list; a list of rising finite numbers is allowed'],
  [{ buckets: 5 }, 'buckets is 5; a list of rising finite numbers is allowed'],
  [{ attemptBuckets: [2, 1] }, 'attemptBuckets must rise, and has 1 after 2'],
  [{ namespace: 'check-out' }, 'namespace is "check-out"; letters, digits, _ and : are allowed'],
  [{ namespace: '1shop' }, 'namespace is "1shop"; letters, digits, _ and : are allowed, and no digit first'],
  [{ namespace: 'shop\n' }, 'namespace is "shop\\n"'],
  [{ namespace: 5 }, 'namespace is 5'],
  [{ maxSeries: 0 }, 'maxSeries is 0; a whole number of at least 1 is allowed'],
  [{ maxSeries: -1 }, 'maxSeries is -1; a whole number of at least 1 is allowed'],
  [{ maxSeries: 1.5 }, 'maxSeries is 1.5'],
  [{ logger: {} }, 'logger must have the methods warn; missing: warn'],
  [{ bucket: [1] }, 'PrometheusObserver has no option "bucket"; there are attemptBuckets, buckets, client,'],
  [{ client: {} }, 'client must be the module of a Prometheus client; missing: Counter, Gauge, Histogram'],
  [{ registry: {} }, 'registry must be a registry of the client; missing: getSingleMetric, registerMetric'],
];

describe.each(clients)('the options of PrometheusObserver, with $name', ({ observer, registry, module }) => {
  it.each(refused)('%j is refused with the value', (options, message) => {
    const create = (): unknown => observer({ registry: registry(), ...options } as PrometheusObserverOptions);
    expect(create).toThrow(ConfigurationError);
    expect(create).toThrow(message);
  });

  it('take the client module itself, in place of the installed one', () => {
    const made: string[] = [];
    class Counting extends module.Counter {
      constructor(settings: ConstructorParameters<typeof module.Counter>[0]) {
        super(settings);
        made.push(settings.name);
      }
    }
    const own = registry();
    const client = { ...module, Counter: Counting, register: own };
    observer({ client }).count('m', 1, {});
    expect(made).toEqual(['m']);
    expect(own.getSingleMetric('m')).toBeInstanceOf(Counting);
  });

  it('leave the given list of buckets alone', () => {
    const buckets = [1, 2];
    observer({ registry: registry(), buckets }).observe('m', 1, {});
    expect(Object.isFrozen(buckets)).toBe(false);
  });
});

describe('a client that is not installed', () => {
  it('is named, with the command that installs it', () => {
    expect(() => installedClient('no-such-client' as 'prom-client')).toThrow(
      'PrometheusObserver needs no-such-client, which is not installed: npm install no-such-client (or give the module as the option client)',
    );
  });
});
