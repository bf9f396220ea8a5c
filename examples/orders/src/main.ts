import { fileURLToPath } from 'node:url';
import { memoryBroker } from '@acemq/testing';
import { NOT_BEGUN } from './exit-codes.ts';
import { runOrders } from './run.ts';
import { stopSignal } from './stopping.ts';

const USAGE = `Usage: orders [FILE]

Works the orders of FILE, one JSON object a line; - reads standard input. Without FILE, the orders that came with the
program. With AMQP_URL set, on that RabbitMQ; otherwise on a broker in this process.
`;

const args = process.argv.slice(2);
const [source] = args;
const url = process.env['AMQP_URL'];

if (source === '--help' || source === '-h') process.stdout.write(USAGE);
else if (args.length > 1 || (source?.startsWith('-') && source !== '-')) {
  process.stderr.write(
    `orders: one file of orders is taken, and this was given: ${args.join(' ')}\n\n${USAGE}`,
  );
  process.exitCode = NOT_BEGUN;
} else {
  process.exitCode = await runOrders({
    ...(source === undefined
      ? { source: fileURLToPath(new URL('../orders.ndjson', import.meta.url)), name: 'orders.ndjson' }
      : { source }),
    stdin: process.stdin,
    target: url === undefined || url === '' ? memoryBroker() : url,
    out: process.stdout,
    err: process.stderr,
    signal: stopSignal(),
  });
}
