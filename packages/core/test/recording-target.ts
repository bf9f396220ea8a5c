import type { DeclareTarget } from '../src/index.ts';

/**
 * Writes down what is declared, in order; and that nothing is declared before what went before it was
 * answered.
 */
export function recordingTarget(refuse?: string): {
  readonly target: DeclareTarget;
  readonly calls: unknown[][];
} {
  const calls: unknown[][] = [];
  let busy = false;
  const answer = async (...call: unknown[]): Promise<void> => {
    if (busy) throw new Error('two declarations at once');
    busy = true;
    calls.push(call);
    await Promise.resolve();
    busy = false;
    if (call[1] === refuse) throw new Error(`refused ${refuse}`);
  };
  return {
    calls,
    target: {
      declareExchange: (name, spec) => answer('exchange', name, spec),
      declareQueue: (name, spec) => answer('queue', name, spec),
      bind: (queue, exchange, key) => answer('bind', queue, exchange, key),
    },
  };
}
