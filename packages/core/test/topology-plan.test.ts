import { describe, expect, it } from 'vitest';
import {
  consumerPlan,
  declaredBy,
  declarePlan,
  exponential,
  none,
  RetryLadder,
  topology,
} from '../src/index.ts';
import { recordingTarget } from './recording-target.ts';
import { expectRefusal } from './refusal.ts';

const policy = exponential(6, '10s', '5m');

describe('what a consumer declares', () => {
  it('is what its ladder declares', async () => {
    for (const [queue, retry] of [
      ['orders.new', policy],
      ['orders.new', none()],
    ] as const) {
      const planned = recordingTarget();
      const laddered = recordingTarget();
      await declarePlan(consumerPlan(queue, retry), planned.target);
      await RetryLadder.for(queue, retry).declare(laddered.target);
      const sorted = (calls: readonly unknown[][]): string[] =>
        calls.map((call) => JSON.stringify(call)).sort();
      expect(sorted(planned.calls)).toEqual(sorted(laddered.calls));
    }
  });

  it('never has the queue itself', () => {
    const plan = consumerPlan('orders.new', policy);
    expect(plan.queues.map(({ name }) => name)).not.toContain('orders.new');
    expect(plan.bindings).toContainEqual({
      queue: 'orders.new',
      exchange: 'acemq.retry',
      routingKey: 'orders.new',
    });
  });

  it('is refused for a name that cannot be', () => {
    expectRefusal(() => consumerPlan('', policy), 'ACEMQ_CONFIGURATION', '""');
  });
});

describe('declaring a plan', () => {
  it('goes by exchanges, queues and bindings, one after the other', async () => {
    const { target, calls } = recordingTarget();
    await declarePlan(
      topology().queue('q', { retry: policy }).exchange('e', 'topic').bind('q', 'e', 'k').plan(),
      target,
    );
    const kinds = calls.map(([kind]) => kind);
    expect(kinds).toEqual(
      [...kinds].sort(
        (a, b) => 'exchange queue bind'.indexOf(String(a)) - 'exchange queue bind'.indexOf(String(b)),
      ),
    );
    expect(calls).toHaveLength(3 + 6 + 4);
  });

  it('stops at the first that is refused', async () => {
    const { target, calls } = recordingTarget('q.dlq');
    await expect(declarePlan(topology().queue('q', { deadLetter: true }).plan(), target)).rejects.toThrow(
      'q.dlq',
    );
    expect(calls.at(-1)?.[1]).toBe('q.dlq');
  });
});

describe('a plan', () => {
  it('is frozen, all of it, and later calls do not change it', () => {
    const builder = topology().queue('q', { retry: policy });
    const plan = builder.plan();
    builder.queue('other');
    expect(plan.queues).toHaveLength(6);
    for (const part of [plan, plan.exchanges, plan.queues, plan.bindings])
      expect(Object.isFrozen(part)).toBe(true);
    for (const item of [...plan.exchanges, ...plan.queues]) {
      for (const part of [item, item.spec, item.spec.arguments]) expect(Object.isFrozen(part)).toBe(true);
    }
    for (const item of plan.bindings) expect(Object.isFrozen(item)).toBe(true);
  });
});

describe('declaredBy', () => {
  const consumer = consumerPlan('orders.new', policy);

  it('says of each thing who declares it', () => {
    const declared = declaredBy(
      topology()
        .exchange('orders', 'topic')
        .queue('orders.new', { deadLetter: true })
        .bind('orders.new', 'orders', 'order.*')
        .plan(),
      consumer,
    );
    const who = (
      items: readonly { readonly declaredBy: string }[],
      name: (item: never) => string,
    ): string[] => items.map((item) => `${name(item as never)}: ${item.declaredBy}`);
    expect(who(declared.exchanges, ({ name }: { name: string }) => name)).toEqual([
      'orders: topology',
      'acemq.dlx: both',
      'acemq.retry: consumer',
    ]);
    expect(who(declared.queues, ({ name }: { name: string }) => name)).toEqual([
      'orders.new: topology',
      'orders.new.dlq: both',
      'orders.new.parked: both',
      'orders.new.retry.40s: consumer',
      'orders.new.retry.80s: consumer',
      'orders.new.retry.160s: consumer',
    ]);
    expect(
      who(
        declared.bindings,
        ({ exchange, routingKey }: { exchange: string; routingKey: string }) => `${exchange} ${routingKey}`,
      ),
    ).toEqual([
      'acemq.dlx orders.new.dlq: both',
      'acemq.dlx orders.new.parked: both',
      'orders order.*: topology',
      'acemq.retry orders.new: consumer',
    ]);
  });

  it('has both for everything that a topology with the same policy declares beside the queue', () => {
    const declared = declaredBy(topology().queue('orders.new', { retry: policy }).plan(), consumer);
    for (const item of [...declared.exchanges, ...declared.bindings]) expect(item.declaredBy).toBe('both');
    expect(declared.queues.filter((item) => item.declaredBy !== 'both').map(({ name }) => name)).toEqual([
      'orders.new',
    ]);
  });

  it('refuses two plans that the broker would refuse', () => {
    const other = topology().queue('orders.new.dlq').plan();
    expectRefusal(() => declaredBy(other, consumer), 'ACEMQ_TOPOLOGY', 'orders.new.dlq', 'quorum');
  });
});
