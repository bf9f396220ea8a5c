import { type Connection, connect } from '@acemq/amqp';
import { ConfigurationError, type Logger } from '@acemq/core';
import type { Surroundings } from '@acemq/terminal';

const LOCAL = 'amqp://localhost';

const silent = (): void => {};
/** What happens to the connection is told by the command itself. */
const QUIET: Logger = { debug: silent, info: silent, warn: silent, error: silent };

/** Connects, lets `work` use the connection, and closes it. */
export async function onBroker<T>(
  { env }: Pick<Surroundings, 'env'>,
  url: string | undefined,
  work: (mq: Connection) => Promise<T>,
): Promise<T> {
  const address = url || env['AMQP_URL'] || LOCAL;
  if (!/^amqps?:\/\//.test(address) || !URL.canParse(address)) {
    throw new ConfigurationError(`${url ? '--url' : 'AMQP_URL'} must be a URL such as amqp://localhost`);
  }
  const mq = await connect(address, { name: 'acemq cli', logger: QUIET, connectTimeout: '5s' });
  try {
    return await work(mq);
  } finally {
    await mq.close({ timeout: '5s' });
  }
}

/** A signal that is aborted when the process is interrupted. */
export function interruption(around: Pick<Surroundings, 'once'>): AbortSignal {
  const controller = new AbortController();
  for (const event of ['SIGINT', 'SIGTERM'] as const) around.once(event, () => controller.abort());
  return controller.signal;
}
