import { randomUUID } from 'node:crypto';
import { Metrics } from '@acemq/observe';
import { type FaultConnection, type FaultProxy, faultProxy } from '@acemq/testing';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, vi } from 'vitest';
import {
  type Connection,
  type ConnectOptions,
  connect,
  type LinkRole,
  type StateEvent,
} from '../../src/index.ts';
import { keepingLogger, type LogLine } from '../setting.ts';
import { type FaultNode, startNode } from './node.ts';
import type { NodeConfiguration } from './node-files.ts';

/** How long a test waits for what must come, where two busy cores are all there is. */
export const PATIENCE: { readonly timeout: number; readonly interval: number } = Object.freeze({
  timeout: 20_000,
  interval: 20,
});

/** A service under test: its connection, its numbers, its log, and what it was told about its connection. */
export interface Service {
  readonly mq: Connection;
  readonly metrics: Metrics;
  readonly log: LogLine[];
  readonly events: StateEvent[];
}

/** One subscription, as the broker has it. */
export interface BrokerConsumer {
  readonly queue: string;
  readonly tag: string;
  readonly prefetch: number;
}

const open: Connection[] = [];

/** Gives the tests of a file one node, emptied after each of them. */
export function useNode(configuration: NodeConfiguration = {}): () => FaultNode {
  let node: FaultNode;
  beforeAll(async () => {
    node = await startNode(configuration);
  });
  afterAll(() => node?.close());
  afterEach(async () => {
    await Promise.all(open.splice(0).map((mq) => mq.close({ timeout: 0 })));
    await node.reset();
  });
  return () => node;
}

/** Connects; the connection is closed when the test has ended. Reconnects fast, since nobody else is disturbed. */
export async function serviceOn(url: string, options: ConnectOptions = {}): Promise<Service> {
  const metrics = new Metrics();
  const logger = keepingLogger();
  const mq = await connect(url, {
    observer: metrics,
    logger,
    reconnect: { initial: 1, max: 50 },
    ...options,
  });
  open.push(mq);
  const events: StateEvent[] = [];
  mq.onState((event) => events.push(event));
  return { mq, metrics, log: logger.lines, events };
}

/** A proxy in front of the node, which is closed when the test has ended. */
export async function proxyTo(node: FaultNode): Promise<FaultProxy> {
  const proxy = await faultProxy(node.url);
  onTestFinished(() => proxy.close());
  return proxy;
}

/** A queue name of this test's own. */
export function queueName(): string {
  return `orders-${randomUUID().slice(0, 8)}`;
}

/** The proxied connection of one of a service's two links. */
export async function linkOf(proxy: FaultProxy, role: LinkRole): Promise<FaultConnection> {
  return vi.waitFor(() => {
    const found = proxy.connections.findLast(({ name }) => name?.endsWith(` ${role}`));
    if (found === undefined) throw new Error(`no ${role} link goes through the proxy`);
    return found;
  }, PATIENCE);
}

/** Loses these links, and resolves when they are up again. */
export async function loseAndRecover(
  { mq, events }: Service,
  lose: () => void | Promise<void>,
  roles: readonly LinkRole[] = ['publish', 'consume'],
): Promise<void> {
  const before = events.length;
  await lose();
  await vi.waitFor(() => {
    const back = events.slice(before).flatMap((one) => (one.type === 'recovered' ? [one.link] : []));
    expect(back).toEqual(expect.arrayContaining([...roles]));
    expect(mq.state).toBe('connected');
  }, PATIENCE);
}

/** Everybody who is subscribed in the vhost `/`, in the order of queue and tag. */
export async function consumersOn(node: FaultNode): Promise<BrokerConsumer[]> {
  const text = await node.evaluate(`
    lists:flatten([begin
      {resource, _, queue, Queue} = proplists:get_value(queue_name, One),
      io_lib:format("~s ~s ~b|", [Queue, proplists:get_value(consumer_tag, One), proplists:get_value(prefetch_count, One)])
    end || One <- rabbit_amqqueue:consumers_all(<<"/">>)])`);
  return text
    .replaceAll('"', '')
    .split('|')
    .map((line) => line.trim().split(' '))
    .filter((words) => words.length === 3)
    .map(([queue = '', tag = '', prefetch]) => ({ queue, tag, prefetch: Number(prefetch) }))
    .sort((a, b) => (`${a.queue} ${a.tag}` < `${b.queue} ${b.tag}` ? -1 : 1));
}

/** How many connections and channels the broker has. */
export async function openOn(node: FaultNode): Promise<{ connections: number; channels: number }> {
  const text = await node.evaluate(
    '{length(rabbit_networking:connections()), length(rabbit_channel:list())}',
  );
  const [connections = 0, channels = 0] = text.replaceAll(/[{}]/g, '').split(',').map(Number);
  return { connections, channels };
}

/** Puts every queue whose name matches under a policy. Resolves when it has taken effect. */
export async function setPolicy(
  node: FaultNode,
  pattern: string,
  definition: Readonly<Record<string, number | string>>,
): Promise<void> {
  const terms = Object.entries(definition).map(([key, value]) =>
    typeof value === 'number' ? `{<<"${key}">>, ${value}}` : `{<<"${key}">>, <<"${value}">>}`,
  );
  await node.evaluate(
    `ok = rabbit_policy:set(<<"/">>, <<"of-the-test">>, <<"${pattern}">>, [${terms.join(', ')}], 0, <<"queues">>, <<"test">>)`,
  );
}

/** Takes it back. */
export async function clearPolicy(node: FaultNode): Promise<void> {
  await node.evaluate('rabbit_policy:delete(<<"/">>, <<"of-the-test">>, <<"test">>)');
}

/** The messages of a classic queue, as the queue itself counts them. */
export async function depthOf(node: FaultNode, queue: string): Promise<{ ready: number; unsettled: number }> {
  const text = await node.evaluate(`
    {ok, Queue} = rabbit_amqqueue:lookup(rabbit_misc:r(<<"/">>, queue, <<"${queue}">>)),
    [{_, Ready}, {_, Unsettled}] = rabbit_amqqueue:info(Queue, [messages_ready, messages_unacknowledged]),
    {Ready, Unsettled}`);
  const [ready = 0, unsettled = 0] = text.replaceAll(/[{}]/g, '').split(',').map(Number);
  return { ready, unsettled };
}
