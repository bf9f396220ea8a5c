import { once } from 'node:events';
import { answerWithAcemq, askWithAcemq } from './request-reply-acemq.ts';
import { answerRaw, askRaw } from './request-reply-raw.ts';
import { type RoundTripTask, WARM_UP } from './request-reply-sides.ts';

const task = JSON.parse(process.argv[2] ?? '') as RoundTripTask;
const { role, side, messages } = task;
const raw = side.startsWith('raw');

if (role === 'responder') {
  await (raw ? answerRaw(task) : answerWithAcemq(task));
  process.send?.('ready');
  await once(process, 'message');
  const before = process.cpuUsage();
  await once(process, 'message');
  process.send?.(perRoundTrip(before));
} else {
  const ask = await (raw ? askRaw(task) : askWithAcemq(task));
  await ask(WARM_UP);
  process.send?.('warm');
  await once(process, 'message');
  const before = process.cpuUsage();
  await ask(messages);
  process.send?.(perRoundTrip(before));
}
await once(process, 'message');
process.exit(0);

function perRoundTrip(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / messages;
}
