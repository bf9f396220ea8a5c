import { type Connection, type ConnectOptions, connect } from '@acemq/amqp';
import { type FaultNode, startNode } from '@acemq/fault-node';
import { Metrics } from '@acemq/observe';
import { afterAll, afterEach, beforeAll } from 'vitest';

/** How long a test waits for what must come, where two busy cores are all there is. */
export const PATIENCE: { readonly timeout: number; readonly interval: number } = Object.freeze({
  timeout: 40_000,
  interval: 20,
});

const open: Connection[] = [];

/** Gives the tests of a file one node, emptied after each of them. */
export function useNode(): () => FaultNode {
  let node: FaultNode;
  beforeAll(async () => {
    node = await startNode({});
  });
  afterAll(() => node?.close());
  afterEach(async () => {
    await Promise.all(open.splice(0).map((mq) => mq.close({ timeout: 0 })));
    await node.reset();
  });
  return () => node;
}

/** Connects; the connection is closed when the test has ended. Reconnects fast, since nobody else is disturbed. */
export async function serviceOn(
  node: FaultNode,
  options: ConnectOptions = {},
): Promise<{ readonly mq: Connection; readonly metrics: Metrics }> {
  const metrics = new Metrics();
  const silent = (): void => {};
  const logger = { debug: silent, info: silent, warn: silent, error: silent };
  const mq = await connect(node.url, {
    observer: metrics,
    logger,
    reconnect: { initial: 1, max: 50 },
    ...options,
  });
  open.push(mq);
  return { mq, metrics };
}

/** How many connections the broker has. */
export async function connectionsOf(node: FaultNode): Promise<number> {
  return Number(await node.evaluate('length(rabbit_networking:connections())'));
}
