import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FrameCounter } from '../src/fault-proxy/frame-counter.ts';
import { frame, PROTOCOL_HEADER } from './fault-stage.ts';

describe('counting frames', () => {
  it('does not depend on how the stream is cut into chunks', () => {
    const sizes = fc.array(fc.nat(40), { minLength: 1, maxLength: 8 });
    const cuts = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 });
    fc.assert(
      fc.property(sizes, cuts, fc.nat(9), fc.boolean(), (all, lengths, last, header) => {
        const frames = all.map((size) => frame(size));
        const stream = Buffer.concat(header ? [PROTOCOL_HEADER, ...frames] : frames);
        const counter = new FrameCounter();
        let passed = 0;
        for (let n = 0; passed < stream.length; n += 1) {
          const chunk = stream.subarray(passed, passed + (lengths[n % lengths.length] as number));
          const took = counter.pass(chunk, last);
          passed += took;
          if (took < chunk.length || (last > 0 && counter.frames === last)) break;
        }
        const whole = last === 0 || last > all.length ? all.length : last;
        const expected = Buffer.concat([...(header ? [PROTOCOL_HEADER] : []), ...frames.slice(0, whole)]);
        expect([counter.frames, passed]).toEqual([whole, expected.length]);
      }),
    );
  });

  it('ends where the stream turns out to be something else', () => {
    const counter = new FrameCounter();
    const wrong = frame(3);
    wrong[10] = 0;
    const stream = Buffer.concat([frame(2), wrong, frame(2)]);
    expect(counter.pass(stream, 3)).toBe(stream.length);
    expect(counter.frames).toBe(1);
  });
});
