import { showLadder } from './ladder-run.ts';
import { stopSignal } from './stopping.ts';

const url = process.env['AMQP_URL'];

process.exitCode = await showLadder({
  url: url === undefined || url === '' ? 'amqp://localhost' : url,
  worker: new URL('./ladder-worker.js', import.meta.url),
  out: process.stdout,
  err: process.stderr,
  signal: stopSignal(),
});
