import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultNode } from '@acemq/fault-node';
import type { FaultConnection, FaultProxy } from '@acemq/testing';
import { messagesOn, openOn } from './broker-counts.ts';
import { type BrokerFault, describeFault, type NetworkFault, type Plan, type Timed } from './plan.ts';
import { isRung } from './queues.ts';

/** Milliseconds in which the longest wait in a rung has long ended. */
const RUNGS_PATIENCE = 30_000;
/** Milliseconds in which clients that were told to go have gone. */
const FAREWELL_PATIENCE = 2_000;
const POLL = 100;

/** What the faults of a plan are done to. */
export interface Victims {
  readonly node: FaultNode;
  /** One for each process of the crew, in its order. */
  readonly proxies: readonly FaultProxy[];
}

type Undo = () => void | Promise<void>;

/**
 * Carries a plan out. Resolves when the last fault has ended, with how many there were of each kind. The
 * tracks run side by side; within one, a fault that took longer than planned moves the next.
 *
 * @param tell - Is told each fault as it begins.
 * @param signal - Ends it early; the fault under way is undone.
 */
export async function carryOut(
  plan: Plan,
  victims: Victims,
  tell: (text: string) => void,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  const started = performance.now();
  const counts = new Map<string, number>();
  const run = async <F extends NetworkFault | BrokerFault>(
    track: readonly Timed<F>[],
    begin: (fault: F) => Undo | Promise<Undo>,
  ): Promise<void> => {
    for (const timed of track) {
      await pause(timed.at - (performance.now() - started), signal);
      if (signal.aborted) return;
      tell(describeFault(timed));
      counts.set(timed.fault.kind, (counts.get(timed.fault.kind) ?? 0) + 1);
      const undo = await begin(timed.fault);
      await pause(timed.lasts, signal);
      await undo();
    }
  };
  await Promise.all([
    run(plan.network, (fault) => beginNetworkFault(fault, victims.proxies)),
    run(plan.broker, (fault) => beginBrokerFault(fault, victims)),
  ]);
  return counts;
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0) return;
  await sleep(ms, undefined, { signal }).catch(() => {}); // An abort is looked for by the caller.
}

function beginNetworkFault(fault: NetworkFault, proxies: readonly FaultProxy[]): Undo {
  const hit = fault.target === 'all' ? proxies : proxies.slice(fault.target, fault.target + 1);
  switch (fault.kind) {
    case 'cut': {
      const { how, side, link } = fault;
      for (const connection of hit.flatMap((proxy) => proxy.connections)) {
        if (link === 'both' || connection.name?.endsWith(` ${link}`)) connection.cut({ how, side });
      }
      return () => {};
    }
    case 'cut-restoring':
      for (const proxy of hit) {
        proxy.cut();
        proxy.cutAfterFrame(fault.direction, fault.frame);
      }
      return () => {
        for (const proxy of hit) proxy.cutAfterFrame(fault.direction, undefined);
      };
    case 'freeze': {
      const frozen: readonly (FaultProxy | FaultConnection)[] = fault.newcomers
        ? hit
        : hit.flatMap((proxy) => proxy.connections);
      for (const one of frozen) one.freeze(fault.direction);
      return () => {
        for (const one of frozen) one.thaw(fault.direction);
      };
    }
    case 'refuse':
      for (const proxy of hit) {
        proxy.refuse();
        proxy.cut();
      }
      return async () => {
        await Promise.all(hit.map((proxy) => proxy.accept()));
      };
    case 'delay':
      for (const proxy of hit) proxy.delay(fault.ms);
      return () => {
        for (const proxy of hit) proxy.delay(0);
      };
    case 'limit':
      for (const proxy of hit) proxy.limit(fault.bytesPerSecond);
      return () => {
        for (const proxy of hit) proxy.limit(undefined);
      };
  }
}

async function beginBrokerFault(fault: BrokerFault, { node, proxies }: Victims): Promise<Undo> {
  switch (fault.kind) {
    case 'alarm':
      await node.alarm(fault.on);
      return () => node.clearAlarms();
    case 'restart':
      await node.evaluate('ok = rabbit_maintenance:suspend_all_client_listeners()');
      if (fault.told) await node.closeConnections('the soak run restarts the broker');
      else for (const proxy of proxies) proxy.cut();
      await deserted(node, proxies);
      await node.stop();
      return () => node.start();
    case 'suspend':
      node.suspend();
      return () => node.resume();
    case 'close':
      await node.closeConnections('the soak run closes every connection');
      return () => {};
  }
}

/**
 * Waits until nobody is connected and nothing waits in a rung. The clients see no difference, and the broker
 * loses nothing by itself: RabbitMQ takes a message out of a rung before its queue has it, so that one that
 * expires while the broker stops can be lost, and so can one that expired while it was down.
 */
async function deserted(node: FaultNode, proxies: readonly FaultProxy[]): Promise<void> {
  const started = performance.now();
  for (;;) {
    const { connections } = await openOn(node);
    const waiting = [...(await messagesOn(node))].filter(([queue, count]) => count > 0 && isRung(queue));
    if (connections === 0 && waiting.length === 0) return;
    const waited = performance.now() - started;
    // A client that is frozen does not hear that it is to go.
    if (connections > 0 && waited > FAREWELL_PATIENCE) for (const proxy of proxies) proxy.cut();
    if (waited > RUNGS_PATIENCE) {
      const rungs = waiting.map(([queue, count]) => `${count} in ${queue}`).join(', ');
      throw new Error(
        `the broker cannot be restarted: ${connections} connections, ${rungs || 'empty rungs'}`,
      );
    }
    await sleep(POLL);
  }
}
