import { memoryBroker } from '@acemq/testing';
import { runExample } from './run.ts';

const USAGE = `Usage: replay [COUNT]

Sends COUNT orders (200) to a shop with a bug, mends it, and replays what failed.
Ends
with 0 when every order is where it belongs.

With AMQP_URL set, it runs on that RabbitMQ; otherwise on the in-memory broker.
`;

const [first, ...more] = process.argv.slice(2);
const url = process.env['AMQP_URL'];
if (more.length > 0 || (first !== undefined && !/^[1-9]\d{0,4}$/.test(first))) {
  const isHelp = first === '--help' || first === '-h';
  (isHelp ? process.stdout : process.stderr).write(USAGE);
  process.exitCode = isHelp ? 0 : 2;
} else {
  process.exitCode = await runExample({
    count: Number(first ?? 200),
    target: url === undefined || url === '' ? memoryBroker() : url,
    out: process.stdout,
    err: process.stderr,
  });
}
