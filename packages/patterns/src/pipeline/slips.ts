import type { Connection, ConsumeOptions, Consumer } from '@acemq/amqp';
import { ConfigurationError, checkName, checkOptions, HEADER_ROUTING_SLIP, shown } from '@acemq/core';
import { CONSUME_OPTIONS } from '../consume-option-names.ts';
import { followed, type StepHandler } from './follower.ts';
import { writeSlip } from './routing-slip.ts';
import { checkStart, type StartOptions } from './start-options.ts';
import { checkStops, type Stop } from './stop.ts';

/**
 * Begins a run that takes its itinerary along, as JSON in the header `acemq-routing-slip`. Resolves, when the broker has
 * confirmed the message to the first stop, to the run's id: the correlation id of its messages.
 *
 * Rejects with `ConfigurationError` for stops or options that cannot be used (none; a slip that takes more than 48 KiB
 * once it is done), and with what `send` of a publisher rejects with: `PublishError` (`ACEMQ_PUBLISH_UNROUTABLE`) where
 * the first stop reaches no queue, `EncodeError`, and the others.
 */
export async function startSlip(
  mq: Connection,
  stops: readonly Stop[],
  payload: unknown,
  options: StartOptions = {},
): Promise<string> {
  const { codec, headers, ...fields } = checkStart(options, 'startSlip');
  const checked = checkStops(stops);
  const { exchange, routingKey } = checked[0] as Stop;
  const slip = { ...headers, [HEADER_ROUTING_SLIP]: writeSlip(checked) };
  const { correlationId } = await mq
    .publisher({ exchange, routingKey, codec })
    .send(payload, { ...fields, headers: slip });
  return correlationId;
}

/** How {@link followSlip} consumes. `T` is the type of the payloads that the handler is given. */
export interface FollowSlipOptions<T = unknown> extends ConsumeOptions<T> {
  /**
   * What the runs are counted under, and the exchange of declared routes. Default: the exchange of the stop at which a run
   * ends.
   */
  readonly pipeline?: string | undefined;
  /** The exchange that declared routes are published to. Default: `pipeline`; without either they cannot be followed. */
  readonly exchange?: string | undefined;
}

/**
 * Works a queue that is a stop of runs. Reads both forms of slip, and sends each run on in the form it came in.
 *
 * A message without a slip, or with one that cannot be followed, is dead-lettered with the reason and is not tried again.
 * Otherwise as `mq.consume`, which says what this rejects with. Declare the queue first, with `mq.declare`.
 */
export async function followSlip<T = unknown>(
  mq: Connection,
  queue: string,
  handler: StepHandler<T>,
  options: FollowSlipOptions<T> = {},
): Promise<Consumer> {
  checkHandler(handler, `the queue ${shown(queue)}`);
  checkOptions(options, [...CONSUME_OPTIONS, 'pipeline', 'exchange'], 'followSlip');
  const { pipeline, exchange = pipeline, ...consuming } = options;
  if (pipeline !== undefined) checkName(pipeline, 'pipeline');
  if (exchange !== undefined) checkName(exchange, 'exchange');
  const codec = consuming.codec ?? mq.codec;
  return mq.consume<T>(queue, followed(mq, { queue, pipeline, exchange }, handler, codec), consuming);
}

/** @throws `ConfigurationError` for what is no function. */
export function checkHandler(handler: unknown, of: string): void {
  if (typeof handler === 'function') return;
  throw new ConfigurationError(
    `the handler of ${of} must be a function that answers next(), end(), retry(), reject(), park() or inProgress(), ` +
      `and is ${shown(handler)}`,
  );
}
