import { cutText } from '@acemq/core';
import type { BacklogReading } from '../reading.ts';
import { columns } from './columns.ts';
import type { KindHistory } from './history.ts';
import { count, time } from './numbers.ts';
import { trend } from './trend.ts';

/** As many kinds are shown; the others are counted in one line. */
const MOST_KINDS = 20;
const LONGEST_KIND = 24;
const LONGEST_NAME = 68;
const TREND = 8;

/** What a reading looks like in a terminal of 80 columns. */
export function panel(name: string, reading: BacklogReading, kinds: readonly KindHistory[]): string {
  const known = (value: number | null | undefined, write: (value: number) => string): string =>
    value === null || value === undefined ? '?' : write(value);
  const shown = kinds.slice(0, MOST_KINDS);
  const rows = shown.map(({ kind, now, samples, throughput }) => [
    cutText(kind, LONGEST_KIND),
    known(now.depth, count),
    trend(
      samples.map(({ depth }) => depth),
      TREND,
    ).padEnd(TREND),
    `${now.ageIsUpperBound ? '≤' : ''}${known(now.oldestAge, time)}`,
    trend(
      samples.map(({ oldestAge }) => oldestAge),
      TREND,
    ).padEnd(TREND),
    known(throughput, (value) => `${count(value)}/s`),
  ]);
  const more = kinds.length - shown.length;
  const retries = kinds.reduce((sum, { now }) => sum + (now.waitingRetry ?? 0), 0);
  const beside = [
    `dead: ${known(reading.deadLength, count)}`,
    ...(retries > 0 ? [`waiting for a retry: ${count(retries)}`] : []),
    ...(reading.lag === undefined ? [] : [`lag as Redis says: ${known(reading.lag, count)}`]),
  ];
  return [
    `${cutText(name, LONGEST_NAME)}  ${new Date(reading.asOf).toISOString().slice(11, 19)}Z\n\n`,
    columns([['kind', 'depth', '', 'oldest', '', 'completed'], ...rows]),
    ...(more > 0 ? [`and ${more} more kinds\n`] : []),
    ...(kinds.length === 0 ? ['nothing waits\n'] : []),
    `\n${beside.join('   ')}\n`,
    ...diagnoses(shown).map((line) => `${line}\n`),
  ].join('');
}

/** The dead have no kind, so that what is said of them is said once. */
function diagnoses(kinds: readonly KindHistory[]): readonly string[] {
  const said = new Set<string>();
  for (const { kind, diagnosis } of kinds) {
    if (diagnosis.shape === 'healthy' || diagnosis.shape === 'unclear') continue;
    said.add(diagnosis.shape === 'bug' ? diagnosis.sentence : `${kind}: ${diagnosis.sentence}`);
  }
  if (said.size > 0) return [...said].flatMap((line) => wrapped(line));
  const unclear = kinds.find(({ diagnosis }) => diagnosis.shape === 'unclear');
  return [unclear?.diagnosis.sentence ?? 'nothing to say'];
}

function wrapped(text: string): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + word.length + 1 > 78) {
      lines.push(line);
      line = `  ${word}`;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
