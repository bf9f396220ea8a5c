import { memoryBroker } from '@acemq/testing';
import { runExample } from './run.ts';

const USAGE = `Usage: pipeline [COUNT]

Takes COUNT applicants (300) on in three steps, and accounts for each. Ends
with 0 when every run has come to one end.

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
    count: Number(first ?? 300),
    target: url === undefined || url === '' ? memoryBroker() : url,
    out: process.stdout,
    err: process.stderr,
  });
}
