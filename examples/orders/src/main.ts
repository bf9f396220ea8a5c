import { fileURLToPath } from 'node:url';
import { memoryBroker } from '@acemq/testing';
import { NOT_BEGUN } from './exit-codes.ts';
import { runOrders } from './run.ts';
import { stopSignal } from './stopping.ts';

const USAGE = `Usage: orders [--scrape] [FILE]

Works the orders of FILE, one JSON object a line; - reads standard input.
Without FILE, the orders that came with the program.

  --scrape    prints every line of the scrape, durations too

With AMQP_URL set, it runs on that RabbitMQ; otherwise on the in-memory broker.
`;

const given = process.argv.slice(2);
const wholeScrape = given.includes('--scrape');
const args = given.filter((arg) => arg !== '--scrape');
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
    wholeScrape,
    target: url === undefined || url === '' ? memoryBroker() : url,
    out: process.stdout,
    err: process.stderr,
    signal: stopSignal(),
  });
}
