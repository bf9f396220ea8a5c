import { manualClock } from '@acemq/testing';
import { expect, test } from 'vitest';
import { Deadlines, Expiring } from '../../src/request/deadlines.ts';

class Named extends Expiring {
  readonly #end: () => void;

  constructor(end: () => void) {
    super();
    this.#end = end;
  }

  expired(): void {
    this.#end();
  }
}

function setting(usual = 1000) {
  const clock = manualClock();
  const began = clock.elapsed();
  const deadlines = new Deadlines(clock, usual);
  const ended: string[] = [];
  const add = (name: string, ms: number): Named => {
    const one = new Named(() => ended.push(`${name} at ${clock.elapsed() - began}`));
    deadlines.add(one, ms, clock.elapsed());
    return one;
  };
  return { clock, deadlines, ended, add };
}

test('each ends at its time, and not before', async () => {
  const { clock, ended, add } = setting();
  add('a', 1000);
  await clock.advance(400);
  add('b', 1000);
  add('c', 100);
  await clock.advance(99);
  expect(ended).toEqual([]);
  await clock.advance(2000);
  expect(ended).toEqual(['c at 500', 'a at 1000', 'b at 1400']);
  expect(clock.timers).toBe(0);
});

test('one timer serves all that wait equally long', async () => {
  const { clock, deadlines, ended, add } = setting();
  const all = Array.from({ length: 1000 }, (_, number) => add(`${number}`, 1000));
  expect(clock.timers).toBe(1);
  for (const one of all.slice(0, 999)) deadlines.remove(one);
  await clock.advance(1000);
  expect(ended).toEqual(['999 at 1000']);
});

test('what ended otherwise never ends again', async () => {
  const { clock, deadlines, ended, add } = setting();
  const [first, middle, last] = [add('first', 1000), add('middle', 1000), add('last', 1000)];
  deadlines.remove(middle);
  deadlines.remove(middle);
  await clock.advance(1000);
  expect(ended).toEqual(['first at 1000', 'last at 1000']);
  deadlines.remove(first);
  deadlines.remove(last);
});

test('the timer of the usual wait is left set, and those of the others are not', () => {
  const { clock, deadlines, add } = setting(1000);
  deadlines.remove(add('usual', 1000));
  expect(clock.timers).toBe(1);
  for (let ms = 1; ms <= 500; ms += 1) deadlines.remove(add('odd', ms));
  expect(clock.timers).toBe(1);
});

test('what begins while others end waits its own time', async () => {
  const { clock, ended, add, deadlines } = setting();
  const again = new Named(() => add('again', 1000));
  deadlines.add(again, 1000, clock.elapsed());
  await clock.advance(1000);
  expect(ended).toEqual([]);
  await clock.advance(1000);
  expect(ended).toEqual(['again at 2000']);
});

test('stopped, it ends nothing and sets nothing', async () => {
  const { clock, deadlines, ended, add } = setting();
  const one = add('a', 1000);
  add('b', 10);
  deadlines.stop();
  expect(clock.timers).toBe(0);
  deadlines.remove(one);
  await clock.advance(5000);
  expect(ended).toEqual([]);
});
