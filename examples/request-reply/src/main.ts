import { memoryBroker } from '@acemq/testing';
import { isRight, report } from './report.ts';
import { run } from './run.ts';

const USAGE = `Usage: request-reply [ASKS]

Asks for ASKS prices (200) at once. Some articles are unknown, some prices take longer
than anybody waits. Ends with 0 when every number is what it has to be.

With AMQP_URL set, it runs on that RabbitMQ; otherwise on the in-memory broker.
`;

const [first = '200', ...rest] = process.argv.slice(2);
if (first === '--help' || first === '-h') {
  process.stdout.write(USAGE);
} else if (!/^[1-9]\d{0,3}$/.test(first) || rest.length > 0) {
  process.stderr.write(USAGE);
  process.exitCode = 2;
} else {
  const url = process.env['AMQP_URL'];
  const inMemory = url === undefined || url === '';
  const outcome = await run(inMemory ? memoryBroker() : url, Number(first));
  process.stdout.write(report(outcome));
  for (const other of outcome.others) console.error(other);
  process.exitCode = isRight(outcome) ? 0 : 1;
}
