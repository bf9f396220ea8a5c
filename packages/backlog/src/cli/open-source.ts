import { ConfigurationError, ConnectError, shown } from '@acemq/core';
import { address, given } from '@acemq/terminal';
import { OutboxSource } from '../outbox-source.ts';
import { QueueSource } from '../queue-source.ts';
import type { BacklogSource } from '../reading.ts';
import type { RedisCaller, RedisClient, RedisSender } from '../redis-calls.ts';
import { deadStreamOf, KIND_FIELD } from '../stream-names.ts';
import { StreamSource } from '../stream-source.ts';
import { StreamThroughput } from '../stream-throughput.ts';
import { firstInstalled } from './missing-client.ts';

/** What the command line says about where to read. */
export interface SourceArguments {
  readonly redis?: string | undefined;
  readonly stream?: string | undefined;
  readonly group?: string | undefined;
  readonly 'kind-field'?: string | undefined;
  readonly rabbitmq?: string | undefined;
  readonly queue?: string | undefined;
  readonly vhost?: string | undefined;
  readonly postgres?: string | undefined;
  readonly table?: string | undefined;
}

/** A source with a connection of its own. */
export interface OpenSource {
  readonly source: BacklogSource;
  close(): Promise<void>;
}

const REDIS = { flag: 'redis', variable: 'REDIS_URL', example: 'redis://localhost:6379' } as const;
const RABBITMQ = {
  flag: 'rabbitmq',
  variable: 'RABBITMQ_MANAGEMENT_URL',
  example: 'http://localhost:15672',
} as const;
const POSTGRES = {
  flag: 'postgres',
  variable: 'POSTGRES_URL',
  example: 'postgres://localhost:5432/shop',
} as const;

type Environment = Readonly<Record<string, string | undefined>>;

/** Opens the one queue that was asked for. */
export async function openSource(args: SourceArguments, env: Environment): Promise<OpenSource> {
  const wanted = [
    (args.stream ?? args.group ?? args.redis) !== undefined,
    (args.queue ?? args.rabbitmq) !== undefined,
    (args.postgres ?? args.table) !== undefined,
  ];
  if (wanted.filter((one) => one).length !== 1) {
    throw new ConfigurationError(
      'say which queue: --stream and --group, or --queue, or --table (--help says more)',
    );
  }
  if (wanted[0]) return redisSource(args, env);
  if (wanted[1]) {
    const url = address(args.rabbitmq, env['RABBITMQ_MANAGEMENT_URL'], RABBITMQ);
    const queue = given(args.queue, 'queue');
    const source = new QueueSource({
      url,
      queue,
      ...(args.vhost === undefined ? {} : { vhost: args.vhost }),
    });
    return { source, close: async () => {} };
  }
  return postgresSource(args, env);
}

async function redisSource(args: SourceArguments, env: Environment): Promise<OpenSource> {
  const url = address(args.redis, env['REDIS_URL'], REDIS);
  const stream = given(args.stream, 'stream');
  const group = given(args.group, 'group');
  const kindField = args['kind-field'] ?? KIND_FIELD;
  const { client, close } = await redisClient(url);
  const source = new StreamSource({ client, stream, group, kindField });
  return { source: new StreamThroughput(source, client, stream, deadStreamOf(stream), kindField), close };
}

async function redisClient(url: string): Promise<{ client: RedisClient; close: () => Promise<void> }> {
  return firstInstalled<{ client: RedisClient; close: () => Promise<void> }>(
    [
      async () => {
        const { Redis } = await import('ioredis');
        const client = new Redis(url, { maxRetriesPerRequest: 1, lazyConnect: true });
        let lost: unknown;
        client.on('error', (error) => {
          lost = error;
        });
        const call: RedisCaller['call'] = (command, ...args) =>
          client.call(command, ...args).catch((error: Error) => {
            // It says how often it tried, and not what went wrong.
            if (error.name !== 'MaxRetriesPerRequestError') throw error;
            throw new ConnectError('Redis cannot be reached', { cause: lost ?? error });
          });
        return { client: { call }, close: async () => client.disconnect() };
      },
      async () => {
        const { createClient } = await import('redis');
        const client = createClient({ url, disableOfflineQueue: true });
        let lost: unknown;
        // It tries for ever to connect; a reading says that it could not.
        const tried = new Promise<void>((resolve) => {
          client.on('ready', () => resolve());
          client.on('error', (error) => {
            lost = error;
            resolve();
          });
        });
        client.connect().catch(() => {});
        await tried;
        const sendCommand: RedisSender['sendCommand'] = async (args) => {
          if (!client.isReady) throw new ConnectError('Redis cannot be reached', { cause: lost });
          return client.sendCommand(args);
        };
        return { client: { sendCommand }, close: async () => client.destroy() };
      },
    ],
    'npm install ioredis',
  );
}

async function postgresSource(args: SourceArguments, env: Environment): Promise<OpenSource> {
  const url = address(args.postgres, env['POSTGRES_URL'], POSTGRES);
  const table = quoted(args.table ?? 'acemq_outbox');
  const { Pool } = (await firstInstalled([() => import('pg')], 'npm install pg')).default;
  const pool = new Pool({ connectionString: url, max: 1, connectionTimeoutMillis: 5000 });
  pool.on('error', () => {});
  const outbox = {
    async owedByDestination() {
      const { rows } = await pool.query<Record<'exchange' | 'routing_key' | 'n' | 'age', string>>(
        `select exchange, routing_key, count(*) as n,
          floor(extract(epoch from clock_timestamp()) * 1000) - min(created_at) as age
        from ${table} where state = 0 group by exchange, routing_key`,
      );
      return rows.map((row) => ({
        exchange: row.exchange,
        routingKey: row.routing_key,
        count: Number(row.n),
        oldestAge: Number(row.age),
      }));
    },
    async retired(limit: number) {
      return (await pool.query(`select 1 from ${table} where state = 2 limit ${limit}`)).rows;
    },
  };
  return { source: new OutboxSource({ outbox, name: `outbox ${table}` }), close: () => pool.end() };
}

function quoted(table: string): string {
  if (!/^\w+(\.\w+)?$/.test(table)) {
    throw new ConfigurationError(`--table must be a name, or schema.name, not ${shown(table)}`);
  }
  return table
    .split('.')
    .map((part) => `"${part}"`)
    .join('.');
}
