import type { Message } from 'amqplib/callback_api';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Acknowledgements } from '../src/amqplib/acknowledgements.ts';
import type { LinkChannel } from '../src/amqplib/link-channel.ts';

/** A broker as far as it minds tags: one that is not out is a fault, also as the last of several. */
class Tags {
  readonly out = new Set<number>();
  readonly acked: number[] = [];
  readonly returned: number[] = [];
  frames = 0;

  ack({ fields: { deliveryTag } }: Message, upTo = false): void {
    this.frames += 1;
    if (!this.out.has(deliveryTag))
      throw new Error(`PRECONDITION_FAILED - unknown delivery tag ${deliveryTag}`);
    for (const tag of [...this.out]) {
      if (tag !== deliveryTag && !(upTo && tag < deliveryTag)) continue;
      this.out.delete(tag);
      this.acked.push(tag);
    }
  }

  nack({ fields: { deliveryTag } }: Message): void {
    if (!this.out.delete(deliveryTag))
      throw new Error(`PRECONDITION_FAILED - unknown delivery tag ${deliveryTag}`);
    this.returned.push(deliveryTag);
  }
}

function setUp(): {
  readonly tags: Tags;
  readonly channel: { open: boolean; beforeClose?: () => void };
  readonly acknowledgements: Acknowledgements;
  deliver(tag: number): Message;
} {
  const tags = new Tags();
  const channel = { open: true, raw: tags };
  const acknowledgements = new Acknowledgements(channel as unknown as LinkChannel);
  return {
    tags,
    channel,
    acknowledgements,
    deliver(tag) {
      const message = { fields: { deliveryTag: tag } } as Message;
      tags.out.add(tag);
      acknowledgements.delivered(message);
      return message;
    },
  };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the acknowledgements of a subscription', () => {
  test('of one turn are one frame where the order is kept', async () => {
    const { tags, acknowledgements, deliver } = setUp();
    for (const message of [1, 2, 3, 4, 5].map(deliver)) acknowledgements.ack(message);
    await turn();
    expect(tags.frames).toBe(1);
    expect(tags.acked).toEqual([1, 2, 3, 4, 5]);
  });

  test('are written at the latest when sixteen wait', () => {
    const { tags, acknowledgements, deliver } = setUp();
    const messages = Array.from({ length: 16 }, (_, index) => deliver(index + 1));
    for (const message of messages) acknowledgements.ack(message);
    expect(tags.acked).toHaveLength(16);
  });

  test('do not wait for long where handlers take their time without giving way', () => {
    const { tags, acknowledgements, deliver } = setUp();
    const [first, second] = [deliver(1), deliver(2)];
    acknowledgements.ack(first);
    const begun = performance.now();
    while (performance.now() - begun < 3);
    acknowledgements.ack(second);
    expect(tags.acked).toEqual([1, 2]);
  });

  test('that wait are written before the channel is closed, and not after it has gone', async () => {
    const closed = setUp();
    closed.acknowledgements.ack(closed.deliver(1));
    closed.channel.beforeClose?.();
    expect(closed.tags.acked).toEqual([1]);
    const gone = setUp();
    gone.acknowledgements.ack(gone.deliver(1));
    gone.channel.open = false;
    await turn();
    expect(gone.tags.frames).toBe(0);
  });

  test('settle exactly what was settled, in whatever order, and never name a tag that is not out', async () => {
    const step = fc.record({
      deed: fc.constantFrom('ack', 'ack', 'ack', 'nack', 'turn'),
      which: fc.nat({ max: 30 }),
      delivered: fc.nat({ max: 4 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
        const { tags, channel, acknowledgements, deliver } = setUp();
        const out: Message[] = [];
        const settled = { ack: [] as number[], nack: [] as number[] };
        let next = 1;
        for (const { deed, which, delivered } of steps) {
          for (let count = 0; count < delivered; count += 1) out.push(deliver(next++));
          if (deed === 'turn') {
            await turn();
            continue;
          }
          const [message] = out.splice(which % Math.max(1, out.length), 1);
          if (message === undefined) continue;
          if (deed === 'ack') acknowledgements.ack(message);
          else acknowledgements.nack(message, true);
          settled[deed].push(message.fields.deliveryTag);
        }
        channel.beforeClose?.();
        const inOrder = (numbers: number[]): number[] => [...numbers].sort((a, b) => a - b);
        expect(inOrder(tags.acked)).toEqual(inOrder(settled.ack));
        expect(inOrder(tags.returned)).toEqual(inOrder(settled.nack));
        expect([...tags.out]).toEqual(out.map(({ fields }) => fields.deliveryTag));
      }),
    );
  });
});
