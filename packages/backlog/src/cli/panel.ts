import { cutText } from '@acemq/core';
import { type Colour, columns, count, paint, plainText, type Terminal, time } from '@acemq/terminal';
import type { BacklogReading } from '../reading.ts';
import type { KindHistory } from './history.ts';
import { trend } from './trend.ts';

/** As many kinds are shown at most; the others are counted in one line. */
const MOST_KINDS = 20;
/** Lines of a picture that are not kinds: the title, the table's head, what is beside, and what is said. */
const OTHER_LINES = 11;
const LONGEST_KIND = 24;
/** How many bars a trend has in 80 columns, and at most. */
const TREND = { usual: 8, most: 24 } as const;
/** Below this width there is no room for trends. */
const NARROW = 64;

/** What a picture is made of. */
export interface Picture {
  readonly name: string;
  readonly reading: BacklogReading;
  /** Those with the oldest jobs first. */
  readonly kinds: readonly KindHistory[];
  /** How old the oldest job may be, in seconds. */
  readonly limit: number;
}

/** What a reading looks like. No line is longer than the terminal is wide. */
export function panel(picture: Picture, terminal: Terminal): string {
  const { name, reading, kinds } = picture;
  const shown = kinds.slice(0, Math.max(1, Math.min(MOST_KINDS, terminal.height - OTHER_LINES)));
  const more = kinds.length - shown.length;
  return [
    title(name, reading.asOf, terminal),
    kinds.length === 0 ? 'nothing waits\n' : table(shown, picture.limit, terminal),
    ...(more > 0 ? [`and ${more} more ${more === 1 ? 'kind' : 'kinds'}\n`] : []),
    '\n',
    ...beside(reading, kinds, terminal),
    ...late(kinds, picture.limit, terminal),
    ...diagnoses(kinds, terminal),
  ].join('');
}

/** What stands there while nothing can be read: never the numbers of before. */
export function unread(name: string, words: string, now: number, terminal: Terminal): string {
  const lines = wrapped(plainText(words), terminal.width);
  return (
    title(name, now, terminal) + lines.map((line) => `${paint(line, 'red', terminal.colours)}\n`).join('')
  );
}

function title(name: string, at: number, { width, colours }: Terminal): string {
  const clock = `${new Date(at).toISOString().slice(11, 19)}Z`;
  const left = cutText(plainText(name), Math.max(1, width - clock.length - 2));
  return `${paint(left, 'bold', colours)}${clock.padStart(width - left.length)}\n\n`;
}

function table(kinds: readonly KindHistory[], limit: number, { width, colours }: Terminal): string {
  const bars =
    width < NARROW ? 0 : Math.min(TREND.most, TREND.usual + Math.max(0, Math.floor((width - 80) / 3)));
  const withTrend = (value: string, values: readonly (number | null)[]): string =>
    bars === 0 ? value : `${value} ${trend(values, bars).padStart(bars)}`;
  const rows = kinds.map(({ now, samples, throughput, throughputs }) => [
    withTrend(
      known(now.depth, count),
      samples.map(({ depth }) => depth),
    ),
    withTrend(
      `${now.ageIsUpperBound ? '≤' : ''}${known(now.oldestAge, time)}`,
      samples.map(({ oldestAge }) => oldestAge),
    ),
    withTrend(
      known(throughput, (value) => `${count(value)}/s`),
      throughputs,
    ),
  ]);
  const behind = ' '.repeat(bars === 0 ? 0 : bars + 1);
  const head = [`depth${behind}`, `oldest${behind}`, `completed${behind}`];
  const room = [0, 1, 2].reduce(
    (left, at) => left - 2 - Math.max(...[head, ...rows].map((row) => row[at]?.length ?? 0)),
    width,
  );
  const longest = Math.max(6, Math.min(room, Math.max(LONGEST_KIND, width - 80)));
  const cells = [
    ['kind', ...head],
    ...kinds.map(({ kind }, at) => [cutText(plainText(kind), longest), ...(rows[at] as string[])]),
  ];
  return columns(cells, (cell, row, column) =>
    paint(cell, row === 0 ? 'dim' : column === 2 ? ageColour(kinds[row - 1], limit) : undefined, colours),
  );
}

/** Age is the alert, so that it alone has a colour. */
function ageColour(kind: KindHistory | undefined, limit: number): Colour | undefined {
  const age = kind?.now.oldestAge ?? 0;
  return age > limit ? 'red' : age > limit / 2 ? 'yellow' : undefined;
}

function beside(
  reading: BacklogReading,
  kinds: readonly KindHistory[],
  { colours, width }: Terminal,
): readonly string[] {
  const retries = kinds.reduce((sum, { now }) => sum + (now.waitingRetry ?? 0), 0);
  const dead = (reading.deadLength ?? 0) > 0;
  const facts = [
    `dead: ${known(reading.deadLength, count)}`,
    ...(retries > 0 ? [`waiting for a retry: ${count(retries)}`] : []),
    ...(reading.lag === undefined ? [] : [`lag as Redis says: ${known(reading.lag, count)}`]),
  ];
  return wrapped(facts.join('   '), width).map(
    (line) => `${paint(line, dead ? 'red' : undefined, colours)}\n`,
  );
}

function late(kinds: readonly KindHistory[], limit: number, { width, colours }: Terminal): readonly string[] {
  const oldest = kinds[0];
  const age = oldest?.now.oldestAge ?? 0;
  if (oldest === undefined || age <= limit) return [];
  const kind = cutText(plainText(oldest.kind), LONGEST_KIND);
  const words = `late: the oldest ${kind} job is ${time(age)} old, the limit is ${time(limit)}`;
  return wrapped(words, width).map((line) => `${paint(line, 'red', colours)}\n`);
}

/** The dead have no kind, so that what is said of them is said once. */
function diagnoses(kinds: readonly KindHistory[], { width, colours }: Terminal): readonly string[] {
  const said = new Set<string>();
  for (const { kind, diagnosis } of kinds) {
    if (diagnosis.shape === 'healthy' || diagnosis.shape === 'unclear') continue;
    const whose = `${cutText(plainText(kind), LONGEST_KIND)}: `;
    said.add(diagnosis.shape === 'bug' ? diagnosis.sentence : `${whose}${diagnosis.sentence}`);
  }
  if (said.size > 0) {
    // One screen; the kinds with the oldest jobs come first.
    return [...said]
      .slice(0, 3)
      .flatMap((line) => wrapped(line, width))
      .map((line) => `${paint(line, 'yellow', colours)}\n`);
  }
  const unclear = kinds.find(({ diagnosis }) => diagnosis.shape === 'unclear');
  return wrapped(unclear?.diagnosis.sentence ?? 'nothing to say', width).map((line) => `${line}\n`);
}

function known(value: number | null | undefined, write: (value: number) => string): string {
  return value === null || value === undefined ? '?' : write(value);
}

function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + word.length + 1 > width) {
      lines.push(line);
      line = `  ${word}`;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].map((one) => cutText(one.trimEnd(), width));
}
