import { ConfigurationError, systemClock, type Transport } from '@acemq/core';
import { type AmqplibOptions, amqplibTransport } from './amqplib/index.ts';
import { type ConnectOptions, resolveConnectOptions, TRANSPORT_OPTIONS } from './connect-options.ts';
import { Connection } from './connection.ts';

/**
 * Connects. `target` is a URL (`amqp://user:password@host:5672/vhost`, or `amqps://` for TLS), a list of URLs
 * that are tried in turn, or a transport such as `memoryBroker()` of `@acemq/testing`.
 *
 * Resolves when both links of the connection (one publishes, the other consumes) are up on the same endpoint.
 * From then on a lost link is restored by itself, for as long as the connection is not closed.
 *
 * Throws, or rejects with,
 * - `ConfigurationError` (`ACEMQ_CONFIGURATION`): an option cannot be used. Nothing was dialled.
 * - `ConnectError` (`ACEMQ_CONNECT_REFUSED`): the broker refused the password, the vhost or a permission.
 * - `ConnectError` (`ACEMQ_CONNECT_FAILED`, `retryable`): no endpoint could be reached in time.
 * - `AbortedError` (`ACEMQ_ABORTED`): `signal` was aborted.
 *
 * No error holds a password.
 */
export async function connect(
  target: string | readonly string[] | Transport,
  options: ConnectOptions = {},
): Promise<Connection> {
  const resolved = resolveConnectOptions(options);
  const transport = transportOf(target, options);
  return Connection.open(transport, resolved, transport.clock ?? systemClock, options.signal);
}

function transportOf(target: string | readonly string[] | Transport, options: ConnectOptions): Transport {
  if (isTransport(target)) {
    const given = TRANSPORT_OPTIONS.filter((name) => options[name] !== undefined);
    if (given.length > 0) {
      throw new ConfigurationError(
        `${given.join(', ')} cannot be given with a transport that is already made; give them to the transport`,
      );
    }
    return target;
  }
  const own: Record<string, unknown> = {};
  for (const name of TRANSPORT_OPTIONS) if (options[name] !== undefined) own[name] = options[name];
  return amqplibTransport(target, own as AmqplibOptions);
}

function isTransport(target: unknown): target is Transport {
  return (
    typeof target === 'object' &&
    target !== null &&
    typeof (target as { readonly dial?: unknown }).dial === 'function'
  );
}
