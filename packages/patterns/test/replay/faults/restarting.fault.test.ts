import { topology } from '@acemq/core';
import { expect, test } from 'vitest';
import { type Progress, replay } from '../../../src/replay/index.ts';
import { serviceOn, useNode } from '../../pipeline/faults/on-node.ts';
import { ownName } from '../../pipeline/setting.ts';

const node = useNode();

const LETTERS = 1_000;
const WINDOW = 10;

test.each(['stop', 'kill'] as const)(
  'a replay goes on by itself when the broker is back after a %s in the middle: every message is moved, few twice',
  async (how) => {
    const { mq } = await serviceOn(node());
    const queue = ownName();
    const dlq = `${queue}.dlq`;
    await mq.declare(topology().queue(queue, { type: 'classic', deadLetter: true }));
    await node().evaluate('mnesia:sync_log()');
    const letters = mq.publisher<object>({ routingKey: dlq });
    const ids = Array.from({ length: LETTERS }, (_, index) => `m-${index}`);
    await Promise.all(ids.map((id) => letters.send({}, { id, error: 'no' })));
    let broken: Promise<void> | undefined;
    const breaking = async (): Promise<void> => {
      await node()[how]();
      await node().start();
    };
    const onProgress = ({ taken }: Progress): void => {
      if (taken > LETTERS / 10) broken ??= breaking();
    };
    // Slowly enough for the broker to go in the middle.
    const report = await replay(mq, dlq, { rate: 400, window: WINDOW, onProgress });
    expect(broken).toBeDefined();
    await broken;
    expect(report.reason).toBe('drained');
    const times = new Map<string, number>();
    for (let one = await mq.pull(queue); one !== undefined; one = await mq.pull(queue)) {
      times.set(one.messageId ?? '', (times.get(one.messageId ?? '') ?? 0) + 1);
      one.ack();
    }
    expect(await mq.messageCount(dlq)).toBe(0);
    expect(times.size).toBe(LETTERS);
    const twice = [...times.values()].reduce((sum, count) => sum + count - 1, 0);
    // A broker that is killed has forgotten the acknowledgements that it had not written yet.
    if (how === 'stop') expect(twice).toBeLessThanOrEqual(WINDOW);
  },
  120_000,
);
