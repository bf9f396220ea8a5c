import { describe, expect, test } from 'vitest';
import { memoryBroker, transportSuite } from '../src/index.ts';

describe('the in-memory broker', () => {
  const left = transportSuite({
    test,
    features: ['cut', 'block', 'unblock', 'cancel', 'refused', 'unreachable'],
    open: () => {
      const broker = memoryBroker();
      return {
        transport: broker,
        faults: {
          cut: (name) => void broker.dropLinks({ name }),
          block: (reason) => broker.block(reason),
          unblock: () => broker.unblock(),
          cancel: (queue) => void broker.cancelConsumers(queue),
          refused: () => {
            const wrong = memoryBroker();
            wrong.refuseDials('credentials');
            return wrong;
          },
          unreachable: () => {
            const nobody = memoryBroker();
            nobody.stop();
            return nobody;
          },
        },
        close: () => {},
      };
    },
  });

  test('passes every case of the transport suite', () => {
    expect(left).toEqual([]);
  });
});
