import { memoryBroker } from '@acemq/testing';
import { type Arguments, readArguments } from './arguments.ts';
import { run } from './run.ts';
import { stopSignal } from './stopping.ts';

const USAGE = `Usage: observability [--serve [--every DURATION]]

Runs a small service and prints what an operator sees of it.

  --serve           then goes on until Ctrl-C, so that a Prometheus can scrape it
  --every DURATION  with an order each 200ms, or as often as this says

With AMQP_URL set, it runs on that RabbitMQ; otherwise on the in-memory broker.
`;

const url = process.env['AMQP_URL'];
const args = process.argv.slice(2);
let read: Arguments | undefined;
try {
  if (args.includes('--help')) process.stdout.write(USAGE);
  else read = readArguments(args);
} catch (error) {
  process.stderr.write(`observability: ${error instanceof Error ? error.message : error}\n\n${USAGE}`);
  process.exitCode = 2;
}
if (read !== undefined) {
  process.exitCode = await run({
    ...read,
    target: url === undefined || url === '' ? memoryBroker() : url,
    out: process.stdout,
    err: process.stderr,
    signal: stopSignal(),
  });
}
