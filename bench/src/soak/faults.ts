import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultNode } from '@acemq/fault-node';
import type { FaultConnection, FaultProxy } from '@acemq/testing';
import { type BrokerFault, describeFault, type NetworkFault, type Plan, type Timed } from './plan.ts';

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
    run(plan.broker, (fault) => beginBrokerFault(fault, victims.node)),
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

async function beginBrokerFault(fault: BrokerFault, node: FaultNode): Promise<Undo> {
  switch (fault.kind) {
    case 'alarm':
      await node.alarm(fault.on);
      return () => node.clearAlarms();
    case 'restart':
      await node.stop();
      return () => node.start();
    case 'kill':
      await node.kill();
      return () => node.start();
    case 'suspend':
      node.suspend();
      return () => node.resume();
    case 'close':
      await node.closeConnections('the soak run closes every connection');
      return () => {};
  }
}
