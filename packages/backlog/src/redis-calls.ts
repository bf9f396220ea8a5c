import { ConfigurationError } from '@acemq/core';

/** All that is asked of a Redis client: any command, as text. `ioredis` has it. */
export interface RedisCaller {
  call(command: string, ...args: string[]): Promise<unknown>;
}

/** What the client of `redis` (node-redis) has instead. */
export interface RedisSender {
  sendCommand(args: readonly string[]): Promise<unknown>;
}

/** A connected client of `ioredis` or `redis`. */
export type RedisClient = RedisCaller | RedisSender;

/** Sends one command. Commands that are sent without waiting in between reach the server in that order. */
export type RedisCall = (command: string, ...args: string[]) => Promise<unknown>;

/**
 * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) when it is no client of either library.
 */
export function redisCall(client: RedisClient): RedisCall {
  const given = client as Partial<RedisCaller & RedisSender> | undefined;
  // ioredis has a sendCommand too, which takes something else.
  if (typeof given?.call === 'function')
    return (command, ...args) => (client as RedisCaller).call(command, ...args);
  if (typeof given?.sendCommand === 'function') {
    return (command, ...args) => (client as RedisSender).sendCommand([command, ...args]);
  }
  throw new ConfigurationError(
    'client must be a client of ioredis (with call) or of redis (with sendCommand)',
  );
}

/**
 * Runs commands as one MULTI, which nothing of others comes between. Rejects with the first error, be it of the
 * connection or of one of the commands.
 */
export async function transaction(
  call: RedisCall,
  commands: readonly (readonly [command: string, ...args: string[]])[],
): Promise<readonly unknown[]> {
  const sent = [call('MULTI'), ...commands.map(([command, ...args]) => call(command, ...args)), call('EXEC')];
  // All are waited for, so that none of them rejects with nobody listening.
  const answers = await Promise.allSettled(sent);
  const refused = answers.find((answer) => answer.status === 'rejected');
  if (refused !== undefined) throw refused.reason;
  const replies = (answers.at(-1) as PromiseFulfilledResult<unknown>).value;
  const failed = (replies as unknown[]).find((reply) => reply instanceof Error);
  if (failed !== undefined) throw failed;
  return replies as unknown[];
}
