// Which services the tests may use, and where. A service is found in this order: the URL in its environment variable, the
// standard local port if it answers, a container if Docker answers. Its variable is set to what was found, so that tests,
// and the programs they start, read one place. Some tests start a service of their own: they need its program.
import { accessSync, constants, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';

/**
 * @typedef {object} Service
 * @property {string} name as people write it
 * @property {string} variable the environment variable with its URL
 * @property {string} url where it is on a developer's machine
 * @property {RegExp} files the test files that need it
 * @property {string} [hello] what a client says first, where a server does not speak first
 * @property {(bytes: Buffer) => boolean} recognises whether its first bytes are that service's
 * @property {Container} container
 */

/**
 * @typedef {object} Container
 * @property {string} image
 * @property {number} port
 * @property {Readonly<Record<string, string>>} [environment]
 * @property {(host: string, port: number) => string} url
 */

/**
 * The files that need something say so in their names, before `.test.ts`: `kill.broker.fault.test.ts` needs two.
 * @param {string} word
 */
function needing(word) {
  return new RegExp(`\\.${word}(\\.[\\w-]+)*\\.test\\.ts$`);
}

/** @type {readonly Service[]} */
export const services = [
  {
    name: 'RabbitMQ',
    variable: 'AMQP_URL',
    url: 'amqp://guest:guest@127.0.0.1:5672',
    files: needing('broker'),
    hello: 'AMQP\0\0\x09\x01',
    recognises: (bytes) => bytes.subarray(0, 3).equals(Buffer.from([1, 0, 0])), // a method frame on channel 0
    container: {
      image: 'rabbitmq:4',
      port: 5672,
      url: (host, port) => `amqp://guest:guest@${host}:${port}`,
    },
  },
  {
    name: "RabbitMQ's management API",
    variable: 'RABBITMQ_MANAGEMENT_URL',
    url: 'http://guest:guest@127.0.0.1:15672',
    files: needing('management'),
    hello: 'HEAD / HTTP/1.0\r\n\r\n',
    recognises: (bytes) => bytes.subarray(0, 5).equals(Buffer.from('HTTP/')),
    container: {
      image: 'rabbitmq:4-management',
      port: 15672,
      url: (host, port) => `http://guest:guest@${host}:${port}`,
    },
  },
  {
    name: 'PostgreSQL',
    variable: 'POSTGRES_URL',
    url: 'postgres://postgres@127.0.0.1:5432/test',
    files: needing('postgres'),
    hello: '\0\0\0\x08\x04\xd2\x16\x2f', // May this connection use TLS?
    recognises: (bytes) => bytes.length === 1 && (bytes[0] === 0x53 || bytes[0] === 0x4e), // S or N
    container: {
      image: 'postgres:17',
      port: 5432,
      environment: { POSTGRES_HOST_AUTH_METHOD: 'trust', POSTGRES_DB: 'test' },
      url: (host, port) => `postgres://postgres@${host}:${port}/test`,
    },
  },
  {
    name: 'MariaDB',
    variable: 'MARIADB_URL',
    url: 'mysql://root@127.0.0.1:3306/test',
    files: needing('mariadb'),
    recognises: (bytes) => bytes[4] === 10, // the version of its handshake, behind the header of a packet
    container: {
      image: 'mariadb:11',
      port: 3306,
      environment: { MARIADB_ALLOW_EMPTY_ROOT_PASSWORD: '1', MARIADB_DATABASE: 'test' },
      url: (host, port) => `mysql://root@${host}:${port}/test`,
    },
  },
  {
    name: 'Redis',
    variable: 'REDIS_URL',
    url: 'redis://127.0.0.1:6379',
    files: needing('redis'),
    hello: 'PING\r\n',
    recognises: (bytes) => bytes[0] === 0x2b || bytes[0] === 0x2d, // + for a reply, - where it wants a password first
    container: { image: 'redis:7', port: 6379, url: (host, port) => `redis://${host}:${port}` },
  },
];

/**
 * @typedef {object} Program
 * @property {string} name as it is called
 * @property {string} variable the environment variable with its path
 * @property {readonly string[]} folders where it is looked for before PATH
 * @property {RegExp} files the test files that need it
 */

/**
 * What starts a node of one's own.
 * @type {Program}
 */
export const rabbitmqServer = {
  name: 'rabbitmq-server',
  variable: 'RABBITMQ_SERVER_PROGRAM',
  // Debian has another script of that name on the PATH, which starts this one as another user, without the environment.
  folders: ['/usr/lib/rabbitmq/bin'],
  files: needing('fault'),
};

/** @type {readonly Program[]} */
export const programs = [
  rabbitmqServer,
  { name: 'prometheus', variable: 'PROMETHEUS_PROGRAM', folders: [], files: needing('prometheus') },
  { name: 'promtool', variable: 'PROMTOOL_PROGRAM', folders: [], files: needing('promtool') },
];

/**
 * @typedef {object} OptionalModule
 * @property {string} name as it is imported
 * @property {RegExp} files the test files that need it
 */

/**
 * Modules with a native part, which may fail to build without failing the install.
 * @type {readonly OptionalModule[]}
 */
export const modules = [{ name: 'better-sqlite3', files: needing('sqlite') }];

/**
 * @param {readonly OptionalModule[]} [wanted]
 * @returns {OptionalModule[]} those that are not installed, or whose native part cannot be loaded
 */
export function missingModules(wanted = modules) {
  const require = createRequire(import.meta.url);
  return wanted.filter(({ name }) => {
    try {
      // Only opening a database loads the native part.
      new (require(name))(':memory:').close();
      return false;
    } catch {
      return true;
    }
  });
}

/**
 * Finds every program and sets its variable.
 * @param {readonly Program[]} [wanted]
 * @returns {Program[]} those that are not installed
 * @throws {Error} when a variable names a program that cannot be run
 */
export function findPrograms(wanted = programs) {
  return wanted.filter((program) => {
    const given = process.env[program.variable];
    if (given !== undefined && given !== '') {
      if (runs(given)) return false;
      throw new Error(`${program.variable} does not name a program that can be run.`);
    }
    const folders = [...program.folders, ...(process.env['PATH'] ?? '').split(delimiter)];
    const found = folders.map((folder) => join(folder, program.name)).find(runs);
    // A link is followed, since such a script finds what belongs to it by where it lies itself.
    if (found !== undefined) process.env[program.variable] = realpathSync(found);
    return found === undefined;
  });
}

/**
 * The variables of the programs that are installed, for the environment of a child.
 * @param {readonly Program[]} [wanted]
 * @returns {Record<string, string | undefined>}
 * @throws {Error} as {@link findPrograms}
 */
export function programVariables(wanted = programs) {
  findPrograms(wanted);
  return Object.fromEntries(wanted.map(({ variable }) => [variable, process.env[variable]]));
}

/** @param {string} file */
function runs(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false; // Not there, or not to be run: it is looked for elsewhere.
  }
}

/**
 * Finds every service, sets its variable, and starts containers where that is the only way.
 * @returns {Promise<{ missing: Service[], stop: () => Promise<void> }>} `stop` ends the containers
 * @throws {Error} when a variable names a service that does not answer: somebody meant that one
 */
export async function findServices() {
  /** @type {Service[]} */
  const missing = [];
  /** @type {{ stop: () => Promise<unknown> }[]} */
  const containers = [];
  for (const service of services) {
    const given = process.env[service.variable];
    if (given !== undefined && given !== '') {
      if (await answers(service, given)) continue;
      throw new Error(`${service.name} does not answer at the address in ${service.variable}.`);
    }
    if (await answers(service, service.url)) {
      process.env[service.variable] = service.url;
      continue;
    }
    const container = await startContainer(service);
    if (container === undefined) missing.push(service);
    else {
      containers.push(container);
      process.env[service.variable] = container.url;
    }
  }
  return { missing, stop: async () => void (await Promise.all(containers.map((one) => one.stop()))) };
}

/**
 * Says whether the service itself answers there, not merely something that listens.
 * @param {Service} service
 * @param {string} url one with TLS is taken at its word once the port accepts a connection
 * @returns {Promise<boolean>}
 */
export function answers(service, url) {
  const { protocol, hostname, port } = new URL(url);
  const usual = new URL(service.url);
  const plain = protocol === usual.protocol;
  return new Promise((resolve) => {
    const socket = connect({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port || (plain ? service.container.port : 5671)),
    });
    const finish = (/** @type {boolean} */ answer) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(5_000, () => finish(false));
    socket.once('error', () => finish(false));
    socket.once('close', () => finish(false));
    socket.once('connect', () => {
      if (!plain) finish(true);
      else if (service.hello !== undefined) socket.write(service.hello, 'latin1');
    });
    socket.once('data', (bytes) => finish(service.recognises(bytes)));
  });
}

/**
 * @param {Service} service
 * @returns {Promise<{ url: string, stop: () => Promise<unknown> } | undefined>} undefined without a Docker engine
 */
async function startContainer({ name, container }) {
  const { GenericContainer, Wait, getContainerRuntimeClient } = await import('testcontainers');
  try {
    await getContainerRuntimeClient();
  } catch {
    return undefined; // No engine answers: the usual case on a developer's machine, and no fault of it.
  }
  console.log(`Starting ${name} in a container (${container.image}).`);
  const started = await new GenericContainer(container.image)
    .withExposedPorts(container.port)
    .withEnvironment(container.environment ?? {})
    .withWaitStrategy(Wait.forListeningPorts())
    .withStartupTimeout(120_000)
    .start();
  return {
    url: container.url(started.getHost(), started.getMappedPort(container.port)),
    stop: () => started.stop(),
  };
}
