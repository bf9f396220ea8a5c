import { measureBesideRaw } from './beside-raw-work.ts';
import type { TelemetryTask } from './telemetry-sides.ts';
import { measureTelemetry } from './telemetry-work.ts';
import type { Task } from './workload.ts';

const task = JSON.parse(process.argv[2] ?? '') as Task | TelemetryTask;
process.send?.(await ('telemetry' in task ? measureTelemetry(task) : measureBesideRaw(task)));
process.exit(0);
