import { isFetched, isUnknown } from './prices.ts';
import type { Outcome } from './run.ts';

/** What the run found, in words and numbers. */
export function report(outcome: Outcome): string {
  const { asks, prices, refused, timedOut, requester, responder, deadLetters, metric } = outcome;
  const refusals = [...refused.values()].reduce((sum, count) => sum + count, 0);
  return [
    line('asked', asks, 'at once, over one reply queue'),
    line('answered', prices, 'with the right price'),
    line('refused', refusals, `by the responder: ${[...refused.keys()].join(', ')}`),
    line('timed out', timedOut, 'after 200 ms'),
    line('late', requester.late, 'replies came when nobody waited any more'),
    '',
    `requester  ${counts(requester)}`,
    `responder  ${counts(responder)}`,
    `metric     acemq.request.total: ${counts(metric)}`,
    '',
    `${deadLetters.length} dead letters, for example`,
    ...[...new Set(deadLetters.map(firstWords))].sort().map((reason) => `  ${reason}`),
    '',
  ].join('\n');
}

/** Whether every number is what the articles make it. */
export function isRight({ asks, prices, refused, timedOut, ...outcome }: Outcome): boolean {
  const numbers = Array.from({ length: asks }, (_, number) => number);
  const unknown = numbers.filter(isUnknown).length;
  const fetched = numbers.filter(isFetched).length;
  const { requester, responder, deadLetters, metric, others } = outcome;
  return (
    others.length === 0 &&
    prices === asks - unknown - fetched &&
    refused.get('UnknownSku') === unknown &&
    timedOut === fetched &&
    requester.answered === asks - fetched &&
    requester.timedOut === fetched &&
    requester.late === fetched &&
    responder.answered === asks - unknown &&
    responder.failed === unknown &&
    responder.unanswerable === 1 &&
    deadLetters.length === unknown + 1 &&
    metric['answered'] === requester.answered &&
    metric['timed_out'] === fetched
  );
}

function line(what: string, count: number, words: string): string {
  return `${what.padEnd(10)}${String(count).padStart(5)}  ${words}`;
}

function counts(of: Readonly<Record<string, number>>): string {
  return Object.entries(of)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
}

/** Of a reason, what fits a line; and the same for every article. */
function firstWords(reason: string): string {
  const words = reason.replace(/^the handler rejected it: /, '').replace(/SKU-\d+/, 'SKU-…');
  return words.length <= 76 ? words : `${words.slice(0, 75)}…`;
}
