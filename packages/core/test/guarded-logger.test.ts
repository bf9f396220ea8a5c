import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { ConfigurationError, guardLogger, type Logger } from '../src/index.ts';

const fail = (): never => {
  throw new Error('the log is full');
};

/** Node tells of an unhandled rejection once the microtasks are through. */
async function unhandled(): Promise<unknown[]> {
  const seen: unknown[] = [];
  const listener = (reason: unknown): void => void seen.push(reason);
  process.on('unhandledRejection', listener);
  onTestFinished(() => void process.off('unhandledRejection', listener));
  await new Promise((resolve) => setImmediate(resolve));
  return seen;
}

describe('a guarded logger', () => {
  test('writes what it is given, as a method of the logger itself', () => {
    class Kept {
      readonly lines: unknown[][] = [];
      warn(...line: unknown[]): void {
        this.lines.push(line);
      }
    }
    const kept = new Kept();
    const logger = guardLogger(kept, ['warn']);
    logger.warn('full', { metric: 'm' });
    logger.warn('alone');
    expect(kept.lines).toEqual([
      ['full', { metric: 'm' }],
      ['alone', undefined],
    ]);
  });

  test('reads a method when it is called, so that one that is replaced later is the one that writes', () => {
    const target = { warn: fail as Logger['warn'] };
    const logger = guardLogger(target, ['warn']);
    target.warn = vi.fn();
    logger.warn('later');
    expect(target.warn).toHaveBeenCalledWith('later', undefined);
  });

  test('keeps to itself what the logger throws', () => {
    expect(() => guardLogger({ error: fail }, ['error']).error('no')).not.toThrow();
  });

  test('keeps to itself what a promise of the logger rejects with, whatever made the promise', async () => {
    const rejecting = async (): Promise<void> => fail();
    // As a library that replaces the global Promise makes those of async functions: no instance of it.
    class Foreign {
      catch(onRejected: (error: unknown) => void): void {
        onRejected(new Error('foreign'));
      }
    }
    const logger = guardLogger({ warn: rejecting, error: () => new Foreign() as never }, ['warn', 'error']);
    logger.warn('no');
    logger.error('no');
    expect(await unhandled()).toEqual([]);
  });

  test('gives one of pino’s the object first', () => {
    const warn = vi.fn();
    const pino = { warn, bindings: () => ({}), child: () => pino };
    guardLogger(pino, ['warn']).warn('full', { metric: 'm' });
    guardLogger(pino, ['warn']).warn('alone');
    expect(warn.mock.calls).toEqual([
      [{ metric: 'm' }, 'full'],
      [{}, 'alone'],
    ]);
  });

  test('is given back as it is when it is guarded again', () => {
    const logger = guardLogger(console, ['warn', 'error']);
    expect(guardLogger(logger, ['warn'])).toBe(logger);
  });
});

describe('a logger is refused', () => {
  test.for<[unknown, string]>([
    [{}, 'logger must have the methods warn, error; missing: warn, error'],
    [{ warn: () => {} }, 'missing: error'],
    [{ warn: 'yes', error: () => {} }, 'missing: warn'],
    [null, 'logger must have the methods warn, error, and is null'],
    ['stderr', 'and is "stderr"'],
    [guardLogger(console, ['warn']), 'missing: error'],
  ])('that lacks what is written to: %j', ([logger, words]) => {
    const guard = (): unknown => guardLogger(logger as Logger, ['warn', 'error']);
    expect(guard).toThrow(ConfigurationError);
    expect(guard).toThrow(words);
  });
});
