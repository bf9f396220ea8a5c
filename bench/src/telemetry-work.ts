import { consumeAcemq, openAcemq, publishEach } from './acemq.ts';
import { cpuTimePerMessage } from './cpu-time.ts';
import { onQueueOfItsOwn } from './stage.ts';
import { observerOf, type TelemetryMeasurement, type TelemetryTask, traced } from './telemetry-sides.ts';
import { WARM_UP } from './workload.ts';

/**
 * Publishes messages, each confirmed, and then consumes and acknowledges the same ones, in this process. They carry what a
 * publisher with the same telemetry writes on them.
 */
export function measureTelemetry(task: TelemetryTask): Promise<TelemetryMeasurement> {
  return onQueueOfItsOwn(task.url, async (queue) => {
    const { telemetry: side, messages } = task;
    const mq = await openAcemq(task.url, await observerOf(side));
    const exported = await traced(mq, side);
    await publishEach(mq, queue, WARM_UP);
    await consumeAcemq(mq, queue, WARM_UP);
    const before = await exported();
    const publish = await cpuTimePerMessage(messages, () => publishEach(mq, queue, messages));
    const consume = await cpuTimePerMessage(messages, () => consumeAcemq(mq, queue, messages));
    return { publish, consume, spans: ((await exported()) - before) / messages };
  });
}
