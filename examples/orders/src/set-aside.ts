import type { Connection } from '@acemq/amqp';
import { type Delivery, readEnvelope } from '@acemq/core';

/** A message that was set aside. */
export interface SetAside {
  /** Its order number, or the beginning of a body that has none. */
  readonly order: string;
  /** What became of it, for example `exhausted 4 attempts`. */
  readonly what: string;
  /** Why; empty where nobody said. */
  readonly why: string;
}

/** Looks at the first messages of a queue, at most `most`, and puts them back. */
export async function lookInto(mq: Connection, queue: string, most: number): Promise<readonly SetAside[]> {
  const taken: Delivery[] = [];
  while (taken.length < most) {
    const delivery = await mq.pull(queue);
    if (delivery === undefined) break;
    taken.push(delivery);
  }
  // The last one first, so that the head of the queue is its head again.
  for (const delivery of taken.toReversed()) delivery.nack(true);
  return taken.map(describe);
}

/** A reason that the library writes is what became of the message, a colon, and the error. */
function describe(delivery: Delivery): SetAside {
  const reason = readEnvelope(delivery, Date.now()).error ?? 'no reason given';
  const colon = reason.indexOf(': ');
  return {
    order: orderNumber(delivery.body),
    what: colon < 0 ? reason : reason.slice(0, colon),
    why: colon < 0 ? '' : reason.slice(colon + 2),
  };
}

/** Characters of an order number that are shown, and bytes of a body that are looked at for one. */
const SHOWN = 16;
const READ = 65_536;

function orderNumber(body: Uint8Array): string {
  const text = new TextDecoder().decode(body.subarray(0, READ));
  try {
    const payload: unknown = JSON.parse(text);
    if (typeof payload === 'object' && payload !== null && 'order' in payload) {
      return cut(String(payload.order));
    }
  } catch {
    // Not JSON: its first words are the best name it has.
  }
  return cut(text);
}

/** On one line, and without what a terminal would obey. */
function cut(text: string): string {
  const plain = text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
  return plain.length <= SHOWN ? plain : `${plain.slice(0, SHOWN - 1)}…`;
}
