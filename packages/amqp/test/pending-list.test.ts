import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Pending, PendingList } from '../src/publishing/pending.ts';

/** An entry that can be told from the others. */
class Entry extends Pending {
  readonly number: number;

  constructor(number: number) {
    super('', `key-${number}`, MESSAGE, false);
    this.number = number;
  }

  judged(): void {}
  failed(): void {}
}

const MESSAGE = {
  body: new Uint8Array(),
  messageId: 'm',
  headers: {},
  persistent: true,
  mandatory: true,
} as const;

/** The numbers of a list from head to tail, checked against the links in the other direction. */
function numbersOf(list: PendingList): number[] {
  const forward: Entry[] = [];
  let last: Entry | undefined;
  for (let at = list.head as Entry | undefined; at !== undefined; at = at.next as Entry | undefined) {
    expect(at.previous).toBe(last);
    forward.push(at);
    last = at;
  }
  return forward.map((entry) => entry.number);
}

const STEPS = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('add' as const) }),
    fc.record({ kind: fc.constant('addFirst' as const) }),
    fc.record({ kind: fc.constant('shift' as const) }),
    fc.record({ kind: fc.constant('remove' as const), at: fc.nat() }),
    fc.record({ kind: fc.constant('again' as const), at: fc.nat() }),
  ),
  { maxLength: 60 },
);

describe('PendingList', () => {
  it('holds what an array with the same operations would hold, in the same order', () => {
    fc.assert(
      fc.property(STEPS, (steps) => {
        const list = new PendingList();
        const model: Entry[] = [];
        let made = 0;
        for (const step of steps) {
          if (step.kind === 'add') {
            made += 1;
            const entry = new Entry(made);
            list.add(entry);
            model.push(entry);
          } else if (step.kind === 'addFirst') {
            made += 1;
            const entry = new Entry(made);
            list.addFirst(entry);
            model.unshift(entry);
          } else if (step.kind === 'shift') {
            expect(list.shift()).toBe(model.shift());
          } else if (model.length > 0) {
            const [entry] = model.splice(step.at % model.length, 1) as [Entry];
            list.remove(entry);
            if (step.kind === 'again') {
              list.add(entry);
              model.push(entry);
            }
          }
          expect(list.size).toBe(model.length);
          expect(list.head).toBe(model[0]);
        }
        expect(numbersOf(list)).toEqual(model.map((entry) => entry.number));
        // The tail is right too: what is added next comes last.
        const last = new Entry(0);
        list.add(last);
        expect(numbersOf(list)).toEqual([...model.map((entry) => entry.number), 0]);
      }),
      { numRuns: 300 },
    );
  });

  it('gives undefined when it is empty', () => {
    const list = new PendingList();
    expect(list.shift()).toBeUndefined();
    expect(list.head).toBeUndefined();
    expect(list.size).toBe(0);
  });

  it('keeps no hold on an entry that has left', () => {
    const list = new PendingList();
    const [a, b, c] = [new Entry(1), new Entry(2), new Entry(3)];
    for (const entry of [a, b, c]) list.add(entry);
    list.remove(b);
    expect(b.previous).toBeUndefined();
    expect(b.next).toBeUndefined();
    expect(list.shift()).toBe(a);
    expect(a.next).toBeUndefined();
    expect(c.previous).toBeUndefined();
  });
});
