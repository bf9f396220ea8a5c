import { measured } from './measuring.ts';
import { roundLine, telemetryReport } from './telemetry-report.ts';
import {
  TELEMETRY_SIDES,
  type TelemetryMeasurement,
  type TelemetrySide,
  type TelemetryTask,
} from './telemetry-sides.ts';
import type { Comparison } from './workload.ts';

/**
 * Compares the CPU time that a message costs with telemetry and without any. Every figure is of a process of its own. The
 * sides take turns, and each round begins with another one; a side is held against `neither` of the same round.
 */
export async function compareTelemetry({ messages, rounds, url }: Comparison): Promise<void> {
  console.log(
    `CPU time per message, published and consumed, ${messages} messages a process, ${rounds} rounds, Node ${process.version}\n`,
  );
  const taken: Map<TelemetrySide, TelemetryMeasurement>[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const samples = new Map<TelemetrySide, TelemetryMeasurement>();
    const first = round % TELEMETRY_SIDES.length;
    for (const telemetry of [...TELEMETRY_SIDES.slice(first), ...TELEMETRY_SIDES.slice(0, first)]) {
      const task: TelemetryTask = { telemetry, messages, url };
      samples.set(telemetry, await measured<TelemetryMeasurement>(task));
    }
    taken.push(samples);
    console.error(roundLine(round + 1, samples));
  }
  console.log(telemetryReport(taken));
}
