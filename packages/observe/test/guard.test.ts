import { ConfigurationError, type Logger } from '@acemq/core';
import { describe, expect, it, vi } from 'vitest';
import { guardObserver, isNullObserver, Metrics, NullObserver, type Observer } from '../src/index.ts';

function throwing(error: unknown): Observer {
  const fail = (): never => {
    throw error;
  };
  return { count: fail, observe: fail, gauge: fail };
}

interface Recording {
  readonly logger: Pick<Logger, 'warn'>;
  readonly lines: unknown[][];
}

function recording(): Recording {
  const lines: unknown[][] = [];
  return { logger: { warn: (...line) => void lines.push(line) }, lines };
}

describe('guardObserver', () => {
  it('hands every call on as it came', () => {
    const calls: unknown[][] = [];
    const inner: Observer = {
      count: (...args) => void calls.push(['count', ...args]),
      observe: (...args) => void calls.push(['observe', ...args]),
      gauge: (...args) => void calls.push(['gauge', ...args]),
    };
    const labels = Object.freeze({ queue: 'q' });
    const guarded = guardObserver(inner, recording().logger);
    guarded.count('c', 1, labels);
    guarded.observe('d', 0.5, labels);
    guarded.gauge('g', 3, labels);
    expect(calls).toEqual([
      ['count', 'c', 1, labels],
      ['observe', 'd', 0.5, labels],
      ['gauge', 'g', 3, labels],
    ]);
    expect(calls.every((call) => call[3] === labels)).toBe(true);
  });

  it('calls the methods on the observer itself, so that a class with private state works', () => {
    const metrics = new Metrics();
    guardObserver(metrics, recording().logger).count('c', 1, {});
    expect(metrics.counts.get('c')).toBe(1);
  });

  it('keeps what is thrown from the caller, and logs it once for each metric', () => {
    const error = new Error('no disk');
    const { logger, lines } = recording();
    const guarded = guardObserver(throwing(error), logger);
    for (let n = 0; n < 3; n += 1) {
      guarded.count('a', 1, {});
      guarded.observe('b', 1, {});
      guarded.gauge('a', 1, {});
    }
    expect(lines).toEqual([
      ['the observer failed on a; further failures on it are not logged', { metric: 'a', error }],
      ['the observer failed on b; further failures on it are not logged', { metric: 'b', error }],
    ]);
  });

  it('logs the rejection of a method that was written async, instead of letting it end the process', async () => {
    const error = new Error('no network');
    const { logger, lines } = recording();
    const fail = async (): Promise<void> => {
      throw error;
    };
    const guarded = guardObserver({ count: fail, observe: fail, gauge: fail }, logger);
    guarded.count('a', 1, {});
    guarded.observe('b', 1, {});
    guarded.gauge('c', 1, {});
    await vi.waitFor(() => expect(lines.map(([, details]) => details)).toHaveLength(3));
    expect(lines[0]?.[1]).toEqual({ metric: 'a', error });
  });

  it('logs a rejection whatever made the promise', () => {
    // As a library that replaces the global Promise makes those of async functions: no instance of it.
    const error = new Error('no network');
    class Foreign {
      catch(onRejected: (error: unknown) => void): void {
        onRejected(error);
      }
    }
    const { logger, lines } = recording();
    const answer = (): undefined => new Foreign() as unknown as undefined;
    guardObserver({ count: answer, observe: answer, gauge: answer }, logger).count('a', 1, {});
    expect(lines[0]?.[1]).toEqual({ metric: 'a', error });
  });

  it('takes null for an answer', () => {
    const { logger, lines } = recording();
    const answer = (): undefined => null as unknown as undefined;
    guardObserver({ count: answer, observe: answer, gauge: answer }, logger).count('a', 1, {});
    expect(lines).toEqual([]);
  });

  it('refuses a logger without its method, also for nobody', () => {
    const guard = (): Observer =>
      guardObserver(new NullObserver(), {} as ReturnType<typeof recording>['logger']);
    expect(guard).toThrow(ConfigurationError);
    expect(guard).toThrow('logger must have the methods warn; missing: warn');
  });

  it('survives a logger that throws too', () => {
    const guarded = guardObserver(throwing(new Error('first')), {
      warn: () => {
        throw new Error('second');
      },
    });
    expect(() => guarded.count('a', 1, {})).not.toThrow();
  });

  it.each([
    [{}, 'count, observe, gauge'],
    [{ count: () => {}, observe: 3 }, 'observe, gauge'],
    [null, 'count, observe, gauge'],
    ['text', 'count, observe, gauge'],
  ])('refuses an observer without its methods: %j', (observer, missing) => {
    const guard = (): Observer => guardObserver(observer as unknown as Observer, recording().logger);
    expect(guard).toThrow(ConfigurationError);
    expect(guard).toThrow(`observer must have the methods count, observe and gauge; missing: ${missing}`);
  });
});

describe('NullObserver', () => {
  it('is recognised, guarded or not, and from another copy of the package too', () => {
    const observer = new NullObserver();
    expect(isNullObserver(observer)).toBe(true);
    expect(guardObserver(observer, recording().logger)).toBe(observer);
    class OfAnotherCopy implements Observer {
      count(): void {}
      observe(): void {}
      gauge(): void {}
    }
    Object.defineProperty(OfAnotherCopy.prototype, Symbol.for('acemq.observer.null'), { value: true });
    expect(isNullObserver(new OfAnotherCopy())).toBe(true);
  });

  it('is not confused with an observer that listens', () => {
    expect(isNullObserver(new Metrics())).toBe(false);
    expect(isNullObserver(throwing(new Error('x')))).toBe(false);
  });

  it('does nothing', () => {
    const observer = new NullObserver();
    expect([observer.count('a', 1, {}), observer.observe('a', 1, {}), observer.gauge('a', 1, {})]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});
