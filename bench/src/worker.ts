import { measureBesideRaw } from './beside-raw-work.ts';
import type { TelemetryTask } from './telemetry-sides.ts';
import { measureTelemetry } from './telemetry-work.ts';
import type { Task } from './workload.ts';

const task = JSON.parse(process.argv[2] ?? '') as Task | TelemetryTask;
const measurement = await ('telemetry' in task ? measureTelemetry(task) : measureBesideRaw(task));
if (process.send === undefined) console.log(measurement);
else process.send(measurement);
process.exit(0);
