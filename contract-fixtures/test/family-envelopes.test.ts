import {
  copyHeaders,
  createEnvelope,
  defaultOrigin,
  type EnvelopeFields,
  type HeaderTable,
  nextAttempt,
  readEnvelope,
  writeHeaders,
} from '@acemq/core';
import { describe, expect, it } from 'vitest';
import { ENVELOPE_CASES } from '../src/envelopes.ts';
import { describeFamily } from './family.ts';

interface WireCase {
  readonly case: string;
  readonly routingKey: string;
  readonly messageId: string;
  readonly body: string;
  readonly contentType: string;
  readonly headers: HeaderTable;
}

const NOW = Date.UTC(2026, 0, 2);

/** What the publisher of a case gave, by the names of our own cases. */
function given(name: string): { readonly fields: EnvelopeFields; readonly payload: unknown } {
  const found = ENVELOPE_CASES.find((ours) => ours.name === name);
  if (found === undefined) throw new Error(`no case is called ${name} in src/envelopes.ts`);
  return found;
}

/** Whether each header is there, and as what; the values of `minimal` are arbitrary. */
function kinds(headers: HeaderTable): Readonly<Record<string, string>> {
  const kindOf = (value: unknown): string => (Number.isSafeInteger(value) ? 'integer' : typeof value);
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, kindOf(value)]));
}

describeFamily<{ readonly cases: readonly WireCase[] }>('envelope-fixtures.json', (family) => {
  describe.each(family.cases)('$case', ({ case: name, body, headers, messageId, routingKey }) => {
    const envelope = readEnvelope({ headers, messageId, routingKey }, NOW);

    it('is written back as it was read', () => {
      expect(writeHeaders(envelope)).toEqual(headers);
    });

    it('loses nothing in a copy that the library makes', () => {
      expect(copyHeaders(envelope)).toEqual(headers);
      expect(copyHeaders(nextAttempt(envelope))).toEqual({ ...headers, 'x-acemq-attempt': 2 });
    });

    it('has the id of the message', () => {
      expect(envelope.id).toBe(messageId);
      expect(readEnvelope({ headers: {}, messageId, routingKey }, NOW).id).toBe(messageId);
    });

    it('is what a publisher of ours writes', () => {
      const { fields, payload } = given(name);
      const ours = createEnvelope(fields, { routingKey, now: NOW, origin: defaultOrigin('acemq', 'app-7') });
      const written = writeHeaders(ours);
      expect(JSON.stringify(payload)).toBe(body);
      if (name !== 'minimal') {
        expect(written).toEqual(headers);
        return;
      }
      expect(kinds(written)).toEqual(kinds(headers));
      expect(written).toMatchObject({
        'x-acemq-attempt': 1,
        'x-acemq-version': 1,
        'x-acemq-type': routingKey,
      });
      expect(written['x-acemq-correlation']).toBe(written['x-acemq-id']);
    });
  });

  it('has a case for each of ours that it knows', () => {
    expect(ENVELOPE_CASES.map(({ name }) => name)).toEqual(
      expect.arrayContaining(family.cases.map(({ case: name }) => name)),
    );
  });
});
