import {
  type Ack,
  ConfigurationError,
  type ConsumeContext,
  type ConsumeInterceptor,
  type PublishContext,
  type PublishInterceptor,
  shown,
} from '@acemq/core';

/**
 * The interceptors of one connection. The lists are replaced and never changed in place, so that a message
 * goes through the chain it met, whatever is added or taken away meanwhile.
 */
export class Interceptors {
  publish: readonly PublishInterceptor[] = [];
  consume: readonly ConsumeInterceptor[] = [];

  addPublish(interceptor: PublishInterceptor): () => void {
    requireFunction(interceptor, 'interceptPublish');
    // One of its own, so that taking it away does not take away the same function added elsewhere.
    const own: PublishInterceptor = (context, next) => interceptor(context, next);
    this.publish = [...this.publish, own];
    return () => {
      this.publish = this.publish.filter((one) => one !== own);
    };
  }

  addConsume(interceptor: ConsumeInterceptor): () => void {
    requireFunction(interceptor, 'interceptConsume');
    const own: ConsumeInterceptor = (context, next) => interceptor(context, next);
    this.consume = [...this.consume, own];
    return () => {
      this.consume = this.consume.filter((one) => one !== own);
    };
  }
}

function requireFunction(interceptor: unknown, method: string): void {
  if (typeof interceptor !== 'function') {
    throw new ConfigurationError(`${method} takes a function of (context, next), not ${shown(interceptor)}`);
  }
}

/**
 * Runs a chain around a publish: the first interceptor is the outermost. What became of the message is asked of
 * `ended` when an interceptor has returned, so that those outside it hear the truth whatever it did.
 */
export function runPublishChain(
  chain: readonly PublishInterceptor[],
  context: PublishContext,
  last: () => Promise<void>,
  ended: () => Promise<void>,
): Promise<void> {
  const step = (at: number): Promise<void> => {
    const interceptor = chain[at];
    if (interceptor === undefined) return promised(last);
    return promised(() => interceptor(context, () => step(at + 1))).then(ended);
  };
  return step(0);
}

/** Runs a chain around a handler: the first interceptor is the outermost. */
export function runConsumeChain(
  chain: readonly ConsumeInterceptor[],
  context: ConsumeContext,
  last: () => Ack | Promise<Ack>,
): Promise<Ack> {
  const step = (at: number): Promise<Ack> => {
    const interceptor = chain[at];
    return promised(interceptor === undefined ? last : () => interceptor(context, () => step(at + 1)));
  };
  return step(0);
}

/** What an `async` function around it would give, with fewer promises. */
function promised<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return Promise.resolve(work());
  } catch (error) {
    return Promise.reject(error);
  }
}
