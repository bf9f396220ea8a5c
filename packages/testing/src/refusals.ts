import {
  BrokerRefusedError,
  REPLY_ACCESS_REFUSED,
  REPLY_NOT_FOUND,
  REPLY_PRECONDITION_FAILED,
  REPLY_RESOURCE_LOCKED,
} from '@acemq/core';

/** What a refusal speaks of. */
export type Kind = 'queue' | 'exchange';

/** A queue or exchange as RabbitMQ writes it in a refusal. */
export function named(kind: Kind, name: string): string {
  return `${kind} '${name}' in vhost '/'`;
}

export function notFound(kind: Kind, name: string): BrokerRefusedError {
  return new BrokerRefusedError(REPLY_NOT_FOUND, `NOT_FOUND - no ${named(kind, name)}`);
}

export function accessRefused(text: string): BrokerRefusedError {
  return new BrokerRefusedError(REPLY_ACCESS_REFUSED, `ACCESS_REFUSED - ${text}`);
}

export function preconditionFailed(text: string): BrokerRefusedError {
  return new BrokerRefusedError(REPLY_PRECONDITION_FAILED, `PRECONDITION_FAILED - ${text}`);
}

export function resourceLocked(queue: string): BrokerRefusedError {
  return new BrokerRefusedError(
    REPLY_RESOURCE_LOCKED,
    `RESOURCE_LOCKED - cannot obtain exclusive access to locked ${named('queue', queue)}. It could be originally ` +
      'declared on another connection or the exclusive property value does not match that of the original declaration.',
  );
}
