import { BrokerRefusedError, ConnectionLostError } from '@acemq/core';
import { describe, expect, it } from 'vitest';
import { AskingChannels } from '../src/amqplib/asking-channels.ts';
import type { LinkChannel } from '../src/amqplib/link-channel.ts';

/** Channels that are opened on demand, and questions that are answered by hand. */
class Desk {
  readonly channels: { open: boolean; close(): Promise<void> }[] = [];
  readonly asked: number[] = [];
  readonly answers: ((refused?: boolean) => void)[] = [];
  limit = 100;

  readonly asking: AskingChannels = new AskingChannels(async () => {
    if (this.open >= this.limit) throw new BrokerRefusedError(530, 'NOT_ALLOWED');
    const channel = {
      open: true,
      async close() {
        channel.open = false;
      },
    };
    this.channels.push(channel);
    return channel as unknown as LinkChannel;
  });

  get open(): number {
    return this.channels.filter((channel) => channel.open).length;
  }

  ask(question: number): Promise<number> {
    return this.asking.use(
      (channel) =>
        new Promise((resolve, reject) => {
          this.asked.push(question);
          this.answers[question] = (refused = false) => {
            if (!refused) return resolve(question);
            void channel.close();
            reject(new Error('refused'));
          };
        }),
    );
  }
}

/** Lets every promise that can settle do so. */
function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

describe('the channels that questions are asked on', () => {
  it('ask eight at a time, and the others first in, first out', async () => {
    const desk = new Desk();
    const questions = upTo(30).map((question) => desk.ask(question));
    for (const question of upTo(30)) {
      await settled();
      expect(desk.asked).toEqual(upTo(Math.min(question + 8, 30)));
      expect(desk.open).toBeLessThanOrEqual(8);
      desk.answers[question]?.();
    }
    expect(await Promise.all(questions)).toEqual(upTo(30));
    await settled();
    expect([desk.channels.length, desk.open]).toEqual([8, 1]);
  });

  it('go on after refusals, each of which costs a channel', async () => {
    const desk = new Desk();
    const questions = upTo(20).map((question) => desk.ask(question).catch(() => 'refused'));
    for (const question of upTo(20)) {
      await settled();
      desk.answers[question]?.(question % 2 === 0);
    }
    expect(await Promise.all(questions)).toEqual(upTo(20).map((q) => (q % 2 === 0 ? 'refused' : q)));
    expect(desk.asked).toEqual(upTo(20));
  });

  it('wait for one another where the link has no channel left, and say so where there is none at all', async () => {
    const desk = new Desk();
    desk.limit = 2;
    const questions = upTo(5).map((question) => desk.ask(question));
    for (const question of upTo(5)) {
      await settled();
      desk.answers[question]?.(false);
    }
    expect(await Promise.all(questions)).toEqual(upTo(5));
    expect(desk.channels.length).toBe(2);
    const none = new Desk();
    none.limit = 0;
    const refused = await Promise.allSettled(upTo(20).map((question) => none.ask(question)));
    for (const answer of refused) expect(answer).toMatchObject({ reason: { replyCode: 530 } });
  });

  it('reject what waits when the link is gone', async () => {
    const desk = new Desk();
    const questions = Promise.allSettled(upTo(20).map((question) => desk.ask(question)));
    await settled();
    desk.asking.end(new ConnectionLostError('gone'));
    for (const question of upTo(8)) desk.answers[question]?.(true);
    const reasons = (await questions).map((answer) => (answer as PromiseRejectedResult).reason.message);
    expect(reasons).toEqual([...Array(8).fill('refused'), ...Array(12).fill('gone')]);
    expect(desk.asked).toHaveLength(8);
  });
});
