import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConfirmWindow, type Pending } from '../src/amqplib/confirm-window.ts';

function pending(messageId: string, more: Partial<Pending> = {}): Pending {
  const listener = { answered() {}, cut() {} };
  return {
    exchange: 'e',
    routingKey: 'k',
    messageId,
    mandatory: true,
    listener,
    returned: undefined,
    ...more,
  };
}

describe('a confirm window', () => {
  it('gives every message to the confirm that is about it, in whatever order and number they come', () => {
    const step = fc.record({ publish: fc.nat(5), pick: fc.nat(), multiple: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const window = new ConfirmWindow();
        const outstanding = new Set<number>();
        let tag = 0;
        for (const { publish, pick, multiple } of steps) {
          for (let i = 0; i < publish; i += 1) {
            tag += 1;
            window.push(pending(String(tag)));
            outstanding.add(tag);
          }
          const tags = [...outstanding];
          if (tags.length === 0) continue;
          const chosen = tags[pick % tags.length] as number;
          const expected = multiple ? tags.filter((each) => each <= chosen) : [chosen];
          const judged: number[] = [];
          window.settle(chosen, multiple, (each) => judged.push(Number(each.messageId)));
          expect(judged).toEqual(expected);
          for (const each of expected) outstanding.delete(each);
        }
        const left: number[] = [];
        window.drain((each) => left.push(Number(each.messageId)));
        expect(left).toEqual([...outstanding]);
      }),
    );
  });

  it('goes on over many more messages than it keeps room for', () => {
    const window = new ConfirmWindow();
    let judged = 0;
    window.push(pending('first'));
    for (let tag = 2; tag <= 5000; tag += 1) {
      window.push(pending(String(tag)));
      if (tag > 2) window.settle(tag - 1, false, () => (judged += 1));
    }
    window.settle(1, false, () => (judged += 1));
    window.push(pending('last'));
    const last: string[] = [];
    window.settle(5001, false, (each) => last.push(each.messageId));
    expect(last).toEqual(['last']);
    window.settle(0, true, () => (judged += 1));
    expect(judged).toBe(5000);
  });

  it('leaves a tag that is not outstanding to nobody', () => {
    const window = new ConfirmWindow();
    window.push(pending('1'));
    const judged: string[] = [];
    window.settle(1, false, (each) => judged.push(each.messageId));
    window.settle(1, false, (each) => judged.push(each.messageId));
    window.settle(9, true, (each) => judged.push(each.messageId));
    window.push(pending('2'));
    window.settle(2, false, (each) => judged.push(each.messageId));
    expect(judged).toEqual(['1', '2']);
  });

  it('finds a returned message by id, exchange and routing key together, each copy once, oldest first', () => {
    const window = new ConfirmWindow();
    const optional = pending('a', { mandatory: false });
    const other = pending('a', { routingKey: 'other' });
    const first = pending('a');
    const second = pending('a');
    for (const each of [optional, other, first, second]) window.push(each);
    const found = window.find('e', 'k', 'a');
    expect(found).toBe(first);
    first.returned = '312 NO_ROUTE';
    expect(window.find('e', 'k', 'a')).toBe(second);
    second.returned = '312 NO_ROUTE';
    expect(window.find('e', 'k', 'a')).toBeUndefined();
    expect(window.find('f', 'k', 'a')).toBeUndefined();
  });
});
