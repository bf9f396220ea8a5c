import { browse, type Letter } from '@acemq/patterns/replay';
import { flagsAndNames, paint, plainText, terminalOf, wholeNumber } from '@acemq/terminal';
import { interruption, onBroker } from './broker.ts';
import { DONE, INTERRUPTED, LEFT } from './exit-codes.ts';
import { FILTER_FLAGS, filterOf } from './filters.ts';
import { ageOf, letterJson } from './letter-view.ts';
import type { Surroundings } from './main.ts';
import { ProgressLine } from './progress-line.ts';
import { noMore, QUEUE_FLAGS, queueOf } from './queue-options.ts';
import { tellOfQuorum } from './quorum.ts';
import { Reasons, shortReason } from './reasons.ts';
import { cut, messages } from './words.ts';

const FLAGS = {
  ...QUEUE_FLAGS,
  ...FILTER_FLAGS,
  limit: { type: 'string' },
  json: { type: 'boolean' },
} as const;

const USUAL_LIMIT = 20;

/** As many reasons are shown. */
const MOST_REASONS = 8;

/** What is shown of an id. A few letters are enough for `show`. */
const ID_WIDTH = 12;
const TYPE_WIDTH = 18;

/** `acemq dlq list`: resolves to the exit code. */
export async function listCommand(args: readonly string[], around: Surroundings): Promise<number> {
  const { values, positionals } = flagsAndNames(args, FLAGS);
  noMore(positionals, 1);
  const queue = queueOf(positionals[0], values);
  const only = filterOf(values);
  const limit = limitOf(values.limit);
  const signal = interruption(around);
  return onBroker(around, values.url, async (mq) => {
    const total = await mq.messageCount(queue);
    const read: Row[] = [];
    const reasons = new Reasons();
    const { stdout } = around;
    const progress = new ProgressLine(around, 'read', limit);
    const report = await browse(
      mq,
      queue,
      (letter) => {
        if (values.json === true) stdout.write(`${JSON.stringify(letterJson(letter))}\n`);
        reasons.add(letter.reason);
        read.push(rowOf(letter));
      },
      { only, limit, signal, onProgress: progress.tell },
    ).finally(() => progress.end());
    if (values.json !== true) {
      stdout.write(table({ queue, total, read, reasons, isFiltered: only !== undefined, around }));
    }
    tellOfQuorum(around, queue, report.kind);
    if (report.reason === 'aborted') return INTERRUPTED;
    return read.length > 0 ? DONE : LEFT;
  });
}

function limitOf(text: string | undefined): number | undefined {
  if (text === undefined) return USUAL_LIMIT;
  return text === 'all' ? undefined : wholeNumber(text, 'limit');
}

/** What is shown of a message. Its body, which the broker keeps until the end anyway, is not kept here. */
interface Row {
  readonly id: string;
  readonly cells: readonly string[];
}

function rowOf(letter: Letter): Row {
  const { envelope, attempts, reason } = letter;
  const cells = [
    ageOf(letter),
    String(attempts),
    cut(plainText(envelope.type), TYPE_WIDTH),
    cut(plainText(envelope.id), ID_WIDTH),
    plainText(shortReason(reason)),
  ];
  return { id: plainText(envelope.id), cells };
}

interface Table {
  readonly queue: string;
  readonly total: number;
  readonly read: readonly Row[];
  readonly reasons: Reasons;
  readonly isFiltered: boolean;
  readonly around: Surroundings;
}

function table({ queue, total, read, reasons, isFiltered, around }: Table): string {
  const { width, colours } = terminalOf(around);
  const name = plainText(queue);
  const lines = [paint(`${name}: ${messages(total)}`, 'bold', colours)];
  if (read.length === 0) {
    if (total > 0)
      lines.push(
        isFiltered ? 'None of them matches.' : 'None of them could be read: somebody else has them.',
      );
    return `${lines.join('\n')}\n`;
  }
  const rows = read.map(({ cells }) => cells);
  const head = ['age', 'tries', 'type', 'id', 'reason'];
  const widths = head.map((word, column) =>
    Math.max(word.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]): string =>
    cut(
      row
        .map((cell, column) =>
          column < 2 ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
        )
        .join('  ')
        .trimEnd(),
      width,
    );
  lines.push('', paint(line(head), 'dim', colours), ...rows.map(line), '');
  const those =
    read.length === total ? 'all' : isFiltered ? `${read.length} that match` : `the ${read.length} oldest`;
  lines.push(`Why (${those}):`);
  const found = reasons.list();
  for (const { reason, count } of found.slice(0, MOST_REASONS)) {
    lines.push(cut(`${String(count).padStart(7)}  ${plainText(reason)}`, width));
  }
  if (found.length > MOST_REASONS) lines.push(`         and ${found.length - MOST_REASONS} other reasons`);
  const first = (read[0]?.id ?? '').slice(0, ID_WIDTH - 1);
  lines.push(
    '',
    paint(`acemq dlq show ${name} ${first}`, 'dim', colours),
    paint(`acemq dlq replay ${name} --dry-run`, 'dim', colours),
  );
  return `${lines.join('\n')}\n`;
}
