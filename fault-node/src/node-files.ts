import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where a node lives, and the environment that keeps it there. */
export interface NodeFiles {
  readonly folder: string;
  readonly name: string;
  readonly env: NodeJS.ProcessEnv;
}

/** What may be set in the node's own configuration file, as `rabbitmq.conf` names it. */
export type NodeConfiguration = Readonly<Record<string, string | number>>;

/**
 * Writes the files of a node in a folder of its own. Nothing of the machine's broker is read or written: not
 * its configuration, plug-ins, data, logs or cookie.
 */
export function writeNodeFiles(
  ports: readonly [number, number],
  configuration: NodeConfiguration,
): NodeFiles {
  const [port, distributionPort] = ports;
  const folder = mkdtempSync(join(tmpdir(), 'acemq-node-'));
  const file = (name: string, text = ''): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  const settings = {
    'listeners.tcp.1': `127.0.0.1:${port}`,
    loopback_users: 'none',
    consumer_timeout: 3000,
    'log.console': 'false',
    'log.file.level': 'info',
    ...configuration,
  };
  const lines = Object.entries(settings).map(([key, value]) => `${key} = ${value}\n`);
  const name = `acemq-fault-${port}@localhost`;
  const inherited = Object.entries(process.env).filter(([key]) => !key.startsWith('RABBITMQ_'));
  return {
    folder,
    name,
    env: {
      ...Object.fromEntries(inherited),
      HOME: folder,
      RABBITMQ_CONF_ENV_FILE: file('rabbitmq-env.conf'),
      RABBITMQ_CONFIG_FILE: file('rabbitmq.conf', lines.join('')),
      // A channel looks for consumers that have run out of time this often; it is not to be had in
      // rabbitmq.conf.
      RABBITMQ_ADVANCED_CONFIG_FILE: file(
        'advanced.config',
        '[{rabbit, [{channel_tick_interval, 1000}]}].\n',
      ),
      RABBITMQ_ENABLED_PLUGINS_FILE: file('enabled_plugins', '[].\n'),
      RABBITMQ_MNESIA_BASE: join(folder, 'data'),
      RABBITMQ_LOG_BASE: join(folder, 'log'),
      RABBITMQ_PID_FILE: join(folder, 'pid'),
      RABBITMQ_NODENAME: name,
      RABBITMQ_DIST_PORT: String(distributionPort),
      // The script then becomes the broker's process, instead of starting it as a child of its own.
      RABBITMQ_ALLOW_INPUT: 'true',
      ERL_CRASH_DUMP: join(folder, 'erl_crash.dump'),
    },
  };
}
