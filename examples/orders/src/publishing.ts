import type { Connection } from '@acemq/amqp';
import { BatchPublishError } from '@acemq/core';

/** How the publishing of one run stands; counted as it goes. */
export interface Publishing {
  /** Lines that were read. */
  read: number;
  /** Lines that were published as they are and confirmed. The rest is in the metrics. */
  rawConfirmed: number;
  /** The first line that was not confirmed, and why. */
  failure: Error | undefined;
}

/**
 * Publishes every line: an order as JSON, a line that is not JSON as it is and under the same content type, which is
 * what a careless sender does. Resolves when each has been confirmed or has failed.
 */
export async function publishOrders(
  mq: Connection,
  queue: string,
  lines: AsyncIterable<Uint8Array>,
  state: Publishing,
): Promise<void> {
  async function* orders(): AsyncGenerator<unknown, void> {
    for await (const line of lines) {
      state.read += 1;
      const order = parse(line);
      if (order === undefined) await publishAsItIs(mq, queue, line, state);
      else yield order;
    }
  }
  try {
    await mq.publisher({ routingKey: queue }).sendAll(orders());
  } catch (error) {
    if (!(error instanceof BatchPublishError)) throw error;
    state.failure ??= error.errors.find((one) => one !== undefined);
  }
}

async function publishAsItIs(
  mq: Connection,
  queue: string,
  body: Uint8Array,
  state: Publishing,
): Promise<void> {
  const answer = await mq.publishRaw('', queue, { body, contentType: 'application/json', headers: {} });
  if (answer.verdict === 'confirmed') state.rawConfirmed += 1;
  else state.failure ??= answer.error;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** `undefined` for a line that is not JSON, which no JSON text stands for. */
function parse(line: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(line));
  } catch {
    return undefined;
  }
}
