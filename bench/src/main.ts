import { readArguments } from './arguments.ts';
import { compareWithRaw } from './beside-raw.ts';
import { compareTelemetry } from './telemetry.ts';

/**
 * What a message costs in CPU time: beside raw amqplib, or with telemetry beside without it.
 *
 * usage: node dist/main.js [telemetry] [messages] [rounds]     AMQP_URL says which broker
 */
const url = process.env['AMQP_URL'] ?? 'amqp://guest:guest@127.0.0.1:5672';
try {
  const { comparison, ...options } = readArguments(process.argv.slice(2));
  await (comparison === 'telemetry' ? compareTelemetry : compareWithRaw)({ ...options, url });
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
