import type {
  Ack,
  ConsumeContext,
  ConsumeInterceptor,
  PublishContext,
  PublishInterceptor,
} from '@acemq/core';

/**
 * The interceptors of one connection. The lists are replaced and never changed in place, so that a message
 * goes through the chain it met, whatever is added or taken away meanwhile.
 */
export class Interceptors {
  publish: readonly PublishInterceptor[] = [];
  consume: readonly ConsumeInterceptor[] = [];

  addPublish(interceptor: PublishInterceptor): () => void {
    this.publish = [...this.publish, interceptor];
    return () => {
      this.publish = this.publish.filter((one) => one !== interceptor);
    };
  }

  addConsume(interceptor: ConsumeInterceptor): () => void {
    this.consume = [...this.consume, interceptor];
    return () => {
      this.consume = this.consume.filter((one) => one !== interceptor);
    };
  }
}

/** Runs a chain around a publish: the first interceptor is the outermost. */
export async function runPublishChain(
  chain: readonly PublishInterceptor[],
  context: PublishContext,
  last: () => Promise<void>,
): Promise<void> {
  const step = async (at: number): Promise<void> => {
    const interceptor = chain[at];
    return interceptor === undefined ? last() : interceptor(context, () => step(at + 1));
  };
  return step(0);
}

/** Runs a chain around a handler: the first interceptor is the outermost. */
export async function runConsumeChain(
  chain: readonly ConsumeInterceptor[],
  context: ConsumeContext,
  last: () => Ack | Promise<Ack>,
): Promise<Ack> {
  const step = async (at: number): Promise<Ack> => {
    const interceptor = chain[at];
    return interceptor === undefined ? last() : interceptor(context, () => step(at + 1));
  };
  return step(0);
}
