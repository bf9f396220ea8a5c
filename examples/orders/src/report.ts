import { type Account, faultsOf } from './account.ts';
import type { RunQueues } from './queues.ts';
import type { SetAside } from './set-aside.ts';

/** Columns that a report may use. */
const WIDTH = 80;

/** What a run begins with. */
export function opening(source: string, queue: string, broker: string, retries: string): string {
  return `Orders    ${source}\nQueue     ${queue}, on ${broker}\nRetries   ${retries}\n\n`;
}

/** The figures as a table, and whether they add up. */
export function accountTable(account: Account, queues: RunQueues): string {
  const { tally, published, read, lying } = account;
  const { consumer, broker, requeued } = tally.retried;
  const waits = [`${consumer} waited in the consumer`, `${broker} in the broker`];
  if (requeued > 0) waits.push(`${requeued} were given back`);
  const faults = faultsOf(account);
  return [
    heading('Account'),
    row('read', read, 'lines of the input'),
    row('published', published, `confirmed${notJson(published - tally.sent)}`),
    row('handled', tally.handled, 'accepted by the handler'),
    row('retried', consumer + broker + requeued, `times: ${waits.join(', ')}`),
    row('dead-lettered', tally.deadLettered, `the broker has ${lying.deadLetters} in ${queues.deadLetters}`),
    row('parked', tally.parked, `the broker has ${lying.parked} in ${queues.parked}`),
    '',
    wrapped('  ', sum(account, faults.length === 0)),
    ...faults.map((fault) => wrapped('  - ', fault)),
    '',
  ].join('\n');
}

function notJson(count: number): string {
  if (count === 0) return '';
  return count === 1
    ? '; 1 line is not JSON and went out unchanged'
    : `; ${count} lines are not JSON and went out unchanged`;
}

function sum({ published, tally }: Account, addsUp: boolean): string {
  const { handled, deadLettered, parked } = tally;
  return addsUp
    ? `It adds up: ${published} published = ${handled} handled + ${deadLettered} dead-lettered + ${parked} parked.`
    : 'It does NOT add up:';
}

/** Messages of each kind that are shown in full. */
const SHOWN_OF_A_KIND = 3;

/**
 * The messages that were set aside in one queue: by what became of them, the first few of each with the reason.
 *
 * @param total - Messages in the queue, of which `messages` are the first.
 */
export function setAsideList(title: string, messages: readonly SetAside[], total: number): string {
  if (total === 0) return '';
  const kinds = new Map<string, SetAside[]>();
  for (const message of messages) {
    const kind = kinds.get(message.what);
    if (kind === undefined) kinds.set(message.what, [message]);
    else kind.push(message);
  }
  const lines = [...kinds].flatMap(([what, all]) => {
    const some = all.slice(0, SHOWN_OF_A_KIND);
    const width = Math.max(...some.map(({ order }) => order.length));
    return [
      wrapped('  ', `${what} (${all.length})`),
      ...some.map(({ order, why }) => wrapped(`    ${order.padEnd(width)}  `, why)),
      ...(all.length > some.length ? [`    and ${all.length - some.length} more`] : []),
    ];
  });
  if (total > messages.length) lines.push(`  ${total - messages.length} more were not looked at`);
  return [heading(title), ...lines, '', ''].join('\n');
}

/**
 * The scrape, under its heading, with a word on the figures that differ from the account's.
 *
 * @param whole - Whether the durations are printed too, which are most of it.
 */
export function scrape(text: string, { published, tally }: Account, whole: boolean): string {
  const notes: string[] = [];
  const raw = published - tally.sent;
  if (raw > 0) {
    notes.push(
      `acemq_publish_total has ${tally.sent}: ${raw} went out by publishRaw, which counts no publish.`,
    );
  }
  if (tally.rejected > 0) {
    const spent = tally.deadLettered - tally.rejected;
    notes.push(
      `Dead letters: ${spent} out of attempts (dead_lettered) + ${tally.rejected} refused (rejected) ` +
        `= ${tally.deadLettered}.`,
    );
  }
  const [shown, left] = whole ? [text, 0] : withoutDurations(text);
  return [
    heading('What a scrape of this service says'),
    ...notes.map((note) => wrapped('  ', note)),
    ...(notes.length > 0 ? [''] : []),
    shown,
  ]
    .join('\n')
    .concat(left > 0 ? `… and ${left} lines of durations; --scrape prints all\n` : '');
}

/** The text without the metrics that are durations, and how many lines those have. */
function withoutDurations(text: string): [text: string, left: number] {
  const lines = text.split(/(?<=\n)/);
  const kept = lines.filter((line) => !/^(?:# TYPE )?acemq_\w+_duration(?:_count|_sum)?[ {]/.test(line));
  return [kept.join(''), lines.length - kept.length];
}

function heading(title: string): string {
  return `${title}\n${'-'.repeat(title.length)}`;
}

function row(name: string, count: number, note: string): string {
  return wrapped(`  ${name.padEnd(14)}${String(count).padStart(7)}   `, note);
}

/** Text behind a label; what does not fit goes on below itself. */
function wrapped(label: string, text: string): string {
  const room = Math.max(WIDTH - label.length, 20);
  const lines: string[] = [];
  let rest = text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
  while (rest.length > room) {
    const space = rest.lastIndexOf(' ', room);
    const end = space > 0 ? space : room;
    lines.push(rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
  lines.push(rest);
  return label + lines.join(`\n${' '.repeat(label.length)}`);
}
