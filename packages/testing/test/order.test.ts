import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Fifo } from '../src/fifo.ts';
import { Heap } from '../src/heap.ts';

test('a fifo gives out in the order in which it took in, however the two are mixed', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.integer(), fc.constant('out' as const)), { maxLength: 200 }),
      (steps) => {
        const fifo = new Fifo<number>();
        const plain: number[] = [];
        for (const step of steps) {
          if (step === 'out') {
            expect(fifo.peek()).toBe(plain[0]);
            expect(fifo.shift()).toBe(plain.shift());
          } else {
            fifo.push(step);
            plain.push(step);
          }
          expect(fifo.size).toBe(plain.length);
        }
        expect(fifo.toArray()).toEqual(plain);
      },
    ),
  );
});

test('a fifo keeps its order past the point at which it gives memory back', () => {
  const fifo = new Fifo<number>();
  for (let value = 0; value < 5000; value += 1) fifo.push(value);
  for (let value = 0; value < 4000; value += 1) expect(fifo.shift()).toBe(value);
  fifo.push(5000);
  expect(fifo.toArray()).toEqual(Array.from({ length: 1001 }, (_, index) => 4000 + index));
});

test('a heap gives out the smallest first', () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), (values) => {
      const heap = new Heap<number>((a, b) => a < b);
      for (const value of values) heap.push(value);
      const sorted = [...values].sort((a, b) => a - b);
      expect(heap.sorted()).toEqual(sorted);
      expect(sorted.map(() => heap.pop())).toEqual(sorted);
      expect(heap.size).toBe(0);
    }),
  );
});
