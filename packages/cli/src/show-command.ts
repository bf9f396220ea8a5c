import { ConfigurationError, isReservedHeader, readText, shown } from '@acemq/core';
import { browse, type Letter } from '@acemq/patterns/replay';
import { flagsAndNames, paint, plainText, terminalOf } from '@acemq/terminal';
import { bodyLines, isText, textOf } from './body-view.ts';
import { interruption, onBroker } from './broker.ts';
import { DONE, INTERRUPTED, LEFT } from './exit-codes.ts';
import { ageOf, letterJson } from './letter-view.ts';
import type { Surroundings } from './main.ts';
import { ProgressLine } from './progress-line.ts';
import { noMore, QUEUE_FLAGS, queueOf } from './queue-options.ts';
import { tellOfQuorum } from './quorum.ts';
import { size } from './words.ts';

const FLAGS = { ...QUEUE_FLAGS, first: { type: 'boolean' }, json: { type: 'boolean' } } as const;

/** `acemq dlq show`: resolves to the exit code. */
export async function showCommand(args: readonly string[], around: Surroundings): Promise<number> {
  const { values, positionals } = flagsAndNames(args, FLAGS);
  noMore(positionals, values.first === true ? 1 : 2);
  const [, id] = positionals;
  const queue = queueOf(positionals[0], values);
  if (id === undefined && values.first !== true) {
    throw new ConfigurationError('say which message: acemq dlq show QUEUE ID, or --first for the oldest');
  }
  const signal = interruption(around);
  return onBroker(around, values.url, async (mq) => {
    const found: Letter[] = [];
    const progress = new ProgressLine(around, 'read');
    const report = await browse(mq, queue, (letter) => void found.push(letter), {
      only: id === undefined ? undefined : ({ envelope }) => envelope.id.startsWith(id),
      // A second one shows that the beginning of an id is not enough.
      limit: id === undefined ? 1 : 2,
      signal,
      onProgress: progress.tell,
    }).finally(() => progress.end());
    tellOfQuorum(around, queue, report.kind);
    const letter = found.find(({ envelope }) => envelope.id === id) ?? found[0];
    if (letter === undefined) {
      if (report.reason === 'aborted') return INTERRUPTED;
      const which = id === undefined ? 'no message' : `no message whose id is or begins with ${shown(id)}`;
      around.stderr.write(`${plainText(queue)} has ${plainText(which)}\n`);
      return LEFT;
    }
    if (found.length > 1 && letter.envelope.id !== id && found[0]?.envelope.id !== found[1]?.envelope.id) {
      const ids = found.map(({ envelope }) => plainText(envelope.id)).join(' and ');
      throw new ConfigurationError(
        `several ids begin with ${shown(id ?? '')}, ${ids} among them; give more of it`,
      );
    }
    around.stdout.write(values.json === true ? jsonOf(letter) : pageOf(letter, around));
    return DONE;
  });
}

function jsonOf(letter: Letter): string {
  const { body, headers } = letter;
  const text = isText(body);
  const whole = {
    ...letterJson(letter),
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, headerText(value)])),
    body: text ? textOf(body) : Buffer.from(body).toString('base64'),
    bodyIs: text ? 'text' : 'base64',
  };
  return `${JSON.stringify(whole, null, 2)}\n`;
}

function pageOf(letter: Letter, around: Surroundings): string {
  const { envelope, reason, attempts, exchange, routingKey, contentType, body, replayed, redelivered } =
    letter;
  const { colours } = terminalOf(around);
  const firstSeen = new Date(envelope.firstSeen).toISOString();
  const age = ageOf(letter);
  const facts: [string, string | undefined][] = [
    ['id', envelope.id],
    ['type', `${envelope.type}, version ${envelope.version}`],
    ['reason', reason ?? 'none was written: the broker or another program put it there'],
    ['attempts', String(attempts)],
    ['first published', age === '?' ? 'it does not say' : `${firstSeen}, ${age} ago`],
    ['origin', envelope.origin],
    ['correlation', envelope.correlationId === envelope.id ? undefined : envelope.correlationId],
    ['causation', envelope.causationId],
    ['exchange, key', `${exchange === '' ? '(default)' : exchange}, ${routingKey}`],
    ['route', envelope.route?.join(' > ')],
    [
      'replayed',
      replayed.count === 0
        ? undefined
        : `${replayed.count} times, last out of ${replayed.from ?? '?'} at ${replayed.at === undefined ? '?' : new Date(replayed.at).toISOString()}`,
    ],
    ['redelivered', redelivered ? 'yes: somebody has looked at it, or failed to settle it' : undefined],
  ];
  const lines = facts
    .filter((fact): fact is [string, string] => fact[1] !== undefined)
    .map(([name, value]) => `${paint(name.padEnd(15), 'dim', colours)}  ${plainText(value)}`);
  const own = Object.entries(letter.headers).filter(([name]) => !isReservedHeader(name));
  if (own.length > 0) {
    lines.push('', paint('headers', 'bold', colours));
    for (const [name, value] of own) lines.push(`  ${plainText(name)}: ${plainText(headerText(value))}`);
  }
  lines.push(
    '',
    paint(
      `body, ${size(body.byteLength)}${contentType === undefined ? '' : `, ${plainText(contentType)}`}`,
      'bold',
      colours,
    ),
    ...bodyLines(letter).map((line) => `  ${line}`),
  );
  return `${lines.join('\n')}\n`;
}

/** A value of a header as text: any type and any nesting may have come. */
function headerText(value: unknown): string {
  const text = readText({ value }, 'value');
  if (text !== undefined) return text;
  try {
    return (
      JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? String(part) : part)) ?? ''
    );
  } catch {
    return '(cannot be shown)';
  }
}
