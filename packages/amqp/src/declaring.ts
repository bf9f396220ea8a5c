import { BrokerRefusedError, type DeclareTarget } from '@acemq/core';
import { refusedDeclaration } from './inspection.ts';

/**
 * A target whose refusals name the argument and both values, where the broker says that something exists
 * otherwise.
 */
export function explaining(target: DeclareTarget): DeclareTarget {
  return {
    async declareExchange(name, spec): Promise<void> {
      try {
        await target.declareExchange(name, spec);
      } catch (error) {
        throw error instanceof BrokerRefusedError ? refusedDeclaration('exchange', name, error) : error;
      }
    },
    async declareQueue(name, spec): Promise<void> {
      try {
        await target.declareQueue(name, spec);
      } catch (error) {
        throw error instanceof BrokerRefusedError ? refusedDeclaration('queue', name, error) : error;
      }
    },
    async bind(queue, exchange, routingKey): Promise<void> {
      await target.bind(queue, exchange, routingKey);
    },
  };
}
