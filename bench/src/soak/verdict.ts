import { compareHalves, type Halves } from './flatness.ts';
import type { Account } from './ledger.ts';
import type { Farewell, Sample } from './orders.ts';

/** A send that took longer has hung: a wait for a link and a confirm time-out are 3 s each. */
const SLOWEST_SEND = 20_000;
const MOST_SHOWN = 10;

/** What was found at the end of a run, besides the numbers. */
export interface Findings {
  readonly account: Account;
  /** What was not as before, once every fault had ended; empty when all was. */
  readonly notRestored: readonly string[];
  /** Messages left in the queues and rungs, by queue. */
  readonly left: ReadonlyMap<string, number>;
  /** Sends that the publishers themselves count as open. */
  readonly open: number;
  readonly crew: readonly {
    readonly name: string;
    readonly samples: readonly Sample[];
    readonly farewell: Farewell;
  }[];
  /** Connections that the broker still had when everybody had closed. */
  readonly connectionsLeft: number;
}

/** One line of the verdict. */
export interface Check {
  readonly what: string;
  readonly ok: boolean;
  readonly detail: string;
}

/** What had to hold, and whether it did. */
export function verdictOf(findings: Findings): readonly Check[] {
  const { account, crew, left, open } = findings;
  const { sent } = account;
  const slowest = Math.max(0, ...crew.map(({ farewell }) => farewell.slowest));
  const uncaught = crew.flatMap(({ name, farewell }) => farewell.uncaught.map((text) => `${name}: ${text}`));
  const unexpected = crew.flatMap(({ farewell }) => farewell.unexpected);
  const unclean = crew.filter(({ farewell }) => !farewell.finished || farewell.leftovers.length > 0);
  const waiting = [...left].filter(([, count]) => count > 0);
  return [
    numbers('confirmed, and handled or set aside', account.lost, sent.confirmed),
    numbers('arrived unconfirmed, and handled or set aside', account.unfinished, account.uncertainArrived),
    numbers('ended where the handler sent it', account.misplaced, endedOf(account)),
    numbers('"nothing was written", and it did not arrive', account.ghosts, sent.unwritten),
    numbers('every send was settled', account.unsettled, totalOf(account)),
    {
      what: 'no send is open, none took too long',
      ok: open === 0 && slowest <= SLOWEST_SEND,
      detail: `${open} open, the slowest took ${(slowest / 1000).toFixed(1)} s`,
    },
    {
      what: 'no send failed otherwise',
      ok: sent.unexpected === 0,
      detail: sent.unexpected === 0 ? '' : `${sent.unexpected}: ${unexpected.slice(0, 3).join('; ')}`,
    },
    list('nothing was uncaught', uncaught),
    list('everything was restored', findings.notRestored),
    list(
      'nothing is left in queues and rungs',
      waiting.map(([queue, count]) => `${count} in ${queue}`),
    ),
    ...crew.map(({ name, samples }) => flat(name, compareHalves(samples))),
    list(
      'every close finished, no socket or timer is left',
      unclean.map(({ name, farewell }) =>
        farewell.finished ? `${name}: ${farewell.leftovers.join(' ')}` : `${name}: close did not finish`,
      ),
    ),
    {
      what: 'no connection is left at the broker',
      ok: findings.connectionsLeft === 0,
      detail: findings.connectionsLeft === 0 ? '' : `${findings.connectionsLeft}`,
    },
  ];
}

function endedOf({ ended }: Account): number {
  return ended.handled + ended.dlq + ended.parked;
}

function totalOf({ sent, unsettled }: Account): number {
  return Object.values(sent).reduce((sum, count) => sum + count, unsettled.length);
}

function numbers(what: string, faulty: readonly number[], of: number): Check {
  if (faulty.length === 0) return { what, ok: true, detail: `${of} of ${of}` };
  const shown = faulty.slice(0, MOST_SHOWN).join(' ');
  const more = faulty.length > MOST_SHOWN ? ' …' : '';
  return { what, ok: false, detail: `not ${faulty.length}: ${shown}${more}` };
}

function list(what: string, faults: readonly string[]): Check {
  return { what, ok: faults.length === 0, detail: faults.slice(0, MOST_SHOWN).join('; ') };
}

function flat(name: string, halves: readonly Halves[] | undefined): Check {
  const what = `${name} is flat`;
  if (halves === undefined) return { what, ok: true, detail: 'too short a run to say' };
  const detail = halves
    .map(({ measure, first, second }) => `${measure} ${first.toFixed(0)} → ${second.toFixed(0)}`)
    .join(', ');
  return { what, ok: halves.every((one) => one.flat), detail };
}
