import { ConfigurationError } from '@acemq/core';
import { describe, expect, test, vi } from 'vitest';
import { isNullObserver, Metrics, NullObserver, type Observer, observers } from '../src/index.ts';

const silent = { warn: () => {} };

/** An observer that keeps its calls in a list that several may share. */
function keeping(name: string, calls: unknown[][]): Observer {
  return {
    count: (...args) => void calls.push([name, 'count', ...args]),
    observe: (...args) => void calls.push([name, 'observe', ...args]),
    gauge: (...args) => void calls.push([name, 'gauge', ...args]),
  };
}

function failing(): Observer {
  const fail = (): never => {
    throw new Error('no disk');
  };
  return { count: fail, observe: fail, gauge: fail };
}

describe('several observers', () => {
  test('are told the same, one after another, with the very labels that came', () => {
    const calls: unknown[][] = [];
    const labels = Object.freeze({ queue: 'q' });
    const all = observers(keeping('a', calls), keeping('b', calls), keeping('c', calls));
    all.count('x', 1, labels);
    all.observe('y', 0.5, labels);
    all.gauge('z', 3, labels);
    expect(calls.map(([name, method]) => `${name} ${method}`)).toEqual([
      'a count',
      'b count',
      'c count',
      'a observe',
      'b observe',
      'c observe',
      'a gauge',
      'b gauge',
      'c gauge',
    ]);
    expect(calls.slice(0, 1)).toEqual([['a', 'count', 'x', 1, labels]]);
    expect(calls.every((call) => call[4] === labels)).toBe(true);
  });

  test.for([0, 1, 2])(
    'are told although number %i of three throws, which is logged once a metric',
    (place) => {
      const metrics = [new Metrics(), new Metrics()];
      const given: Observer[] = [...metrics];
      given.splice(place, 0, failing());
      const lines: string[] = [];
      const all = observers(given, { logger: { warn: (line) => void lines.push(line) } });
      for (let n = 0; n < 2; n += 1) {
        all.count('x', 1, {});
        all.observe('y', 1, {});
        all.gauge('z', 1, {});
      }
      for (const { counts, durations, gauges } of metrics) {
        expect([counts.get('x'), durations.get('y')?.count, gauges.get('z')]).toEqual([2, 2, 1]);
      }
      expect(lines).toEqual(
        ['x', 'y', 'z'].map(
          (metric) => `the observer failed on ${metric}; further failures on it are not logged`,
        ),
      );
    },
  );

  test('are told although one of them rejects, which does not end the process', async () => {
    const metrics = new Metrics();
    const warn = vi.fn();
    const fail = async (): Promise<void> => {
      throw new Error('no network');
    };
    const all = observers([{ count: fail, observe: fail, gauge: fail }, metrics], { logger: { warn } });
    all.count('x', 1, {});
    expect(metrics.counts.get('x')).toBe(1);
    await vi.waitFor(() => expect(warn).toHaveBeenCalledTimes(1));
  });

  test('log to the console unless there is a logger', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    try {
      observers(failing(), new Metrics()).count('x', 1, {});
      expect(warn).toHaveBeenCalledTimes(1);
    } finally {
      warn.mockRestore();
    }
  });

  test('may hold several in turn', () => {
    const metrics = [new Metrics(), new Metrics(), new Metrics()] as const;
    observers(observers(metrics[0], metrics[1]), metrics[2]).count('x', 1, {});
    expect(metrics.map(({ counts }) => counts.get('x'))).toEqual([1, 1, 1]);
  });
});

describe('those that do not listen', () => {
  test('are left out', () => {
    const metrics = new Metrics();
    const nobody = new NullObserver();
    const count = vi.spyOn(nobody, 'count');
    const all = observers(nobody, metrics, nobody, observers());
    all.count('x', 1, {});
    expect(metrics.counts.get('x')).toBe(1);
    expect(count).not.toHaveBeenCalled();
    expect(isNullObserver(all)).toBe(false);
  });

  test('leave a NullObserver where nobody else is there', () => {
    expect(isNullObserver(observers())).toBe(true);
    expect(isNullObserver(observers([]))).toBe(true);
    expect(isNullObserver(observers(new NullObserver(), observers(new NullObserver())))).toBe(true);
  });
});

test('a single one is guarded', () => {
  const all = observers([failing()], { logger: silent });
  expect(isNullObserver(all)).toBe(false);
  expect(() => all.count('x', 1, {})).not.toThrow();
});

describe('it is refused', () => {
  const metrics = new Metrics();
  test.for<[string, unknown[], string]>([
    ['what is no observer', [metrics, { count: () => {} }], 'missing: observe, gauge'],
    ['nothing where an observer should be', [metrics, undefined], 'missing: count, observe, gauge'],
    ['a list within the arguments', [metrics, [metrics]], 'missing: count, observe, gauge'],
    ['one that is given twice', [metrics, new NullObserver(), metrics], 'observer 2 of 2 was given before'],
    ['one that is given again further in', [metrics, observers(new Metrics(), metrics)], 'was given before'],
    ['an option that nobody reads', [[metrics], { log: silent }], 'has no option "log"'],
    ['a logger that cannot warn', [[metrics], { logger: {} }], 'logger must have the methods warn'],
    ['a logger where the options should be', [[metrics], 'console'], 'must be an object, not "console"'],
  ])('%s', ([, given, words]) => {
    const make = (): Observer => (observers as (...all: unknown[]) => Observer)(...given);
    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(words);
  });
});

test('an observer of a class that begins with NullObserver is told', () => {
  const told = vi.fn();
  class Counting extends NullObserver {
    override count(metric: string): void {
      told(metric);
    }
  }
  expect(isNullObserver(new Counting())).toBe(false);
  observers(new Counting(), new Metrics()).count('x', 1, {});
  expect(told).toHaveBeenCalledWith('x');
});
