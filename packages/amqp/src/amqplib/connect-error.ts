import { ConnectError } from '@acemq/core';
import { type Reply, replyOf, wordsOf } from './refusal.ts';

/**
 * The replies to a connection that say no to this login, whoever asks again: 403 (access-refused: the
 * password) and 530 (not-allowed: no such vhost, no permission for it). AMQP 0-9-1, reply codes.
 */
const REFUSALS: ReadonlySet<number> = new Set([403, 530]);

/** amqplib keeps nothing but the method's name of a refusal that comes where `connection.open-ok` should. */
const CLOSED_AT_OPEN = /^Expected ConnectionOpenOk; got <ConnectionClose/;

/**
 * Whether the broker closed the connection in place of opening the vhost, in which case amqplib has lost its
 * words.
 */
export function isClosedAtOpen(error: unknown): boolean {
  return error instanceof Error && CLOSED_AT_OPEN.test(error.message);
}

/** OpenSSL's words for an answer that is not TLS, which is what a port for `amqp://` gives. */
const NOT_TLS = 'wrong version number';

/** The error of a dial out of what amqplib gave, or of the broker's reply where that is known. */
export function connectErrorOf(
  error: unknown,
  label: string,
  reply: Reply | undefined = replyOf(error),
): ConnectError {
  const words = reply === undefined ? wordsOf(error) + hintOf(error) : `${reply.code} ${reply.text}`;
  const refused = reply !== undefined && REFUSALS.has(reply.code);
  return new ConnectError(`cannot connect to ${label}: ${words}`, { cause: error, refused });
}

function hintOf(error: unknown): string {
  const { reason } = Object(error) as { readonly reason?: unknown };
  return reason === NOT_TLS ? '; what answers there does not speak TLS' : '';
}
