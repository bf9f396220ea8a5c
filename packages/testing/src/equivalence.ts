import type { ExchangeSpec, HeaderTable, QueueSpec } from '@acemq/core';
import { wireType } from './message.ts';
import { argument, comparedArguments, type QueueType } from './queue-arguments.ts';
import { type Kind, named, preconditionFailed } from './refusals.ts';

/** Throws RabbitMQ's refusal (406) where a queue is declared again in another way. */
export function checkSameQueue(name: string, type: QueueType, existing: QueueSpec, wanted: QueueSpec): void {
  // An exclusive queue is not durable, whatever its declaration says.
  checkField(
    'queue',
    name,
    'durable',
    existing.durable && !existing.exclusive,
    wanted.durable && !wanted.exclusive,
  );
  checkField('queue', name, 'auto_delete', existing.autoDelete, wanted.autoDelete);
  for (const key of comparedArguments(type))
    checkArgument('queue', name, key, existing.arguments, wanted.arguments);
}

/** Throws RabbitMQ's refusal (406) where an exchange is declared again in another way. */
export function checkSameExchange(name: string, existing: ExchangeSpec, wanted: ExchangeSpec): void {
  checkField('exchange', name, 'type', existing.type, wanted.type);
  checkField('exchange', name, 'durable', existing.durable, wanted.durable);
  checkField('exchange', name, 'auto_delete', existing.autoDelete, wanted.autoDelete);
  checkArgument('exchange', name, 'alternate-exchange', existing.arguments, wanted.arguments);
}

function checkField(kind: Kind, name: string, field: string, existing: unknown, wanted: unknown): void {
  if (existing !== wanted) throw differs(kind, name, field, `'${wanted}'`, `'${existing}'`);
}

function checkArgument(
  kind: Kind,
  name: string,
  key: string,
  existing: Readonly<HeaderTable>,
  wanted: Readonly<HeaderTable>,
): void {
  const before = argument(existing, key);
  const now = argument(wanted, key);
  if (before === undefined && now === undefined) return;
  if (before === undefined || now === undefined) {
    // A classic queue is the same with and without its type.
    if (key === 'x-queue-type' && (before ?? now) === 'classic') return;
    throw differs(kind, name, key, described(now), described(before));
  }
  // An integer is the same number in whichever width it was sent.
  const same =
    typeof before === 'string' || typeof now === 'string'
      ? before === now
      : typeof before === 'boolean' || typeof now === 'boolean'
        ? before === now
        : Number(before) === Number(now);
  if (!same) throw differs(kind, name, key, `'${String(now)}'`, `'${String(before)}'`);
}

function described(value: unknown): string {
  return value === undefined ? 'none' : `the value '${String(value)}' of type '${wireType(value)}'`;
}

function differs(kind: Kind, name: string, what: string, received: string, current: string): Error {
  return preconditionFailed(
    `inequivalent arg '${what}' for ${named(kind, name)}: received ${received} but current is ${current}`,
  );
}
