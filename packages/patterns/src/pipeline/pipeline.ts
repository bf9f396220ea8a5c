import type { Connection, ConsumeOptions, Consumer, PlanReport } from '@acemq/amqp';
import {
  BrokerRefusedError,
  ConfigurationError,
  checkOptions,
  REPLY_NOT_FOUND,
  RetryPolicy,
  randomId,
  shown,
  type TopologyBuilder,
  TopologyError,
  topology,
} from '@acemq/core';
import { CONSUME_OPTIONS } from '../consume-option-names.ts';
import { followed, type StepHandler } from './follower.ts';
import { checkPipelineName, checkSteps } from './names.ts';
import { LONGEST_SLIP } from './routing-slip.ts';
import { RunningPipeline } from './running-pipeline.ts';
import { checkHandler } from './slips.ts';
import { checkStart, type StartOptions } from './start-options.ts';

/** How a {@link Pipeline} is declared and retried. */
export interface PipelineOptions<Step extends string = string> {
  /**
   * When a step that failed is tried again: one policy for all steps, or one for each of some. Brings their rungs into the
   * topology. Default: the connection's, which is `none()` unless given.
   */
  readonly retry?: RetryPolicy | { readonly [Name in Step]?: RetryPolicy } | undefined;
  /** Of the steps' queues. Default `quorum`. */
  readonly type?: 'quorum' | 'classic' | undefined;
}

/** How all steps are consumed in one process. */
export interface RunOptions<Step extends string = string> extends ConsumeOptions {
  /** What differs for some of the steps. Default: nothing. */
  readonly steps?: { readonly [Name in Step]?: ConsumeOptions } | undefined;
}

const OPTIONS: readonly string[] = ['retry', 'type'] satisfies (keyof PipelineOptions)[];
const TYPES: readonly unknown[] = [undefined, 'quorum', 'classic'];

/**
 * A fixed sequence of steps, each with a queue of its own. Only names: it holds no connection, and may be made wherever it
 * is needed. Any service that knows the names may follow one of its steps.
 *
 * The exchange has the pipeline's name (direct, durable), a step's routing key is its name, and its queue is
 * `{pipeline}.{step}`. Messages carry their route in the headers `x-acemq-route`, `-position` and `-id`.
 */
export class Pipeline<const Step extends string = string> {
  /** Also its exchange. */
  readonly name: string;
  /** In order. */
  readonly steps: readonly Step[];
  readonly #type: 'quorum' | 'classic' | undefined;
  readonly #retry: ReadonlyMap<string, RetryPolicy>;

  /**
   * @param name - Letters, digits, dots and dashes; begins with a letter or a digit.
   * @param steps - At least one, of the same form, each once.
   * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`), which names the value and what is allowed.
   */
  constructor(name: string, steps: readonly Step[], options: PipelineOptions<Step> = {}) {
    this.name = checkPipelineName(name);
    this.steps = checkSteps(name, steps);
    checkOptions(options, OPTIONS, `the pipeline ${shown(name)}`);
    if (!TYPES.includes(options.type)) {
      throw new ConfigurationError(`type must be quorum or classic, and is ${shown(options.type)}`);
    }
    this.#type = options.type;
    this.#retry = this.#policies(options.retry);
    this.#checkSizes();
  }

  /**
   * The queue of a step.
   *
   * @throws `ConfigurationError` for a step that it does not have.
   */
  queue(step: Step): string {
    return `${this.name}.${this.#checkStep(step)}`;
  }

  /**
   * Its exchange, the queues of its steps with their dead-letter queues and rungs, and the bindings. A new builder at each
   * call, which may be added to.
   */
  topology(): TopologyBuilder {
    const builder = topology().exchange(this.name, 'direct');
    for (const step of this.steps) {
      const queue = this.queue(step);
      builder
        .queue(queue, { deadLetter: true, retry: this.#retry.get(step), type: this.#type })
        .bind(queue, this.name, step);
    }
    return builder;
  }

  /** Declares {@link topology}: the same as `mq.declare`. */
  declare(mq: Connection): Promise<PlanReport> {
    return mq.declare(this.topology());
  }

  /**
   * Begins a run: publishes a message to the first step. Resolves to the run's id, a UUID, when the broker has confirmed it.
   *
   * Rejects with `ConfigurationError` for an option that cannot be used, and with what `send` of a publisher rejects with:
   * `PublishError` (`ACEMQ_PUBLISH_FAILED` where the pipeline was never declared), `EncodeError`, and the others.
   */
  async send(mq: Connection, payload: unknown, options: StartOptions = {}): Promise<string> {
    const { codec, ...fields } = checkStart(options, `send of the pipeline ${shown(this.name)}`);
    const routeId = randomId();
    await mq
      .publisher({ exchange: this.name, routingKey: this.steps[0], codec })
      .send(payload, { ...fields, route: this.steps, routePosition: 0, routeId });
    return routeId;
  }

  /**
   * Works the queue of one step. Its retry policy is the pipeline's for that step unless `options` gives another. A message
   * without a slip begins a run at this step; one that cannot be followed is dead-lettered with the reason.
   *
   * Otherwise as `mq.consume`, which says what this rejects with; `BrokerRefusedError` (404) where the pipeline was never
   * declared.
   */
  async follow<T = unknown>(
    mq: Connection,
    step: Step,
    handler: StepHandler<T>,
    options: ConsumeOptions<T> = {},
  ): Promise<Consumer> {
    const queue = this.queue(step);
    checkHandler(handler, `the step ${shown(step)}`);
    const place = { queue, pipeline: this.name, exchange: this.name, steps: this.steps, step };
    const work = followed(mq, place, handler, options.codec ?? mq.codec);
    const policy = this.#retry.get(step);
    const consuming =
      options.retry !== undefined || policy === undefined ? options : { ...options, retry: policy };
    try {
      return await mq.consume<T>(queue, work, consuming);
    } catch (error) {
      throw error instanceof BrokerRefusedError && error.replyCode === REPLY_NOT_FOUND
        ? this.#missing(error)
        : error;
    }
  }

  /**
   * Works all steps in this process. Resolves when every one of them is being read. Where one cannot be, those that are
   * running are closed, and it rejects with what that one rejected with.
   *
   * @param handlers - One for each step.
   */
  async run<Payloads extends { [Name in Step]: unknown }>(
    mq: Connection,
    handlers: { readonly [Name in keyof Payloads]: StepHandler<Payloads[Name]> },
    options: RunOptions<Step> = {},
  ): Promise<RunningPipeline> {
    checkOptions(options, [...CONSUME_OPTIONS, 'steps'], `run of the pipeline ${shown(this.name)}`);
    const { steps: own = {}, ...common } = options;
    this.#checkNames(handlers ?? null, 'handlers');
    this.#checkNames(own, 'the option steps');
    for (const step of this.steps) checkHandler(handlers[step], `the step ${shown(step)}`);
    const starting = await Promise.allSettled(
      this.steps.map((step) =>
        this.follow(mq, step, handlers[step] as StepHandler, {
          ...common,
          ...(own as typeof options.steps)?.[step],
        }),
      ),
    );
    const running = new RunningPipeline(
      starting.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])),
    );
    const failed = starting.find((one) => one.status === 'rejected');
    if (failed === undefined) return running;
    await running.close();
    throw failed.reason;
  }

  /** The name and the steps. */
  toString(): string {
    return `Pipeline(${this.name}: ${this.steps.join(', ')})`;
  }

  #checkStep(step: unknown): string {
    if (this.steps.includes(step as Step)) return step as string;
    throw new ConfigurationError(
      `the pipeline ${shown(this.name)} has no step ${shown(step)}; there are ${this.steps.join(', ')}`,
    );
  }

  #checkNames(given: unknown, what: string): void {
    checkOptions(given, this.steps, `${what} of the pipeline ${shown(this.name)}`);
  }

  #policies(retry: PipelineOptions['retry']): ReadonlyMap<string, RetryPolicy> {
    if (retry === undefined) return new Map();
    if (retry instanceof RetryPolicy) return new Map(this.steps.map((step) => [step, retry]));
    this.#checkNames(retry, 'retry');
    const policies = new Map<string, RetryPolicy>();
    for (const [step, policy] of Object.entries(retry)) {
      if (policy === undefined) continue;
      if (!(policy instanceof RetryPolicy)) {
        throw new ConfigurationError(
          `retry of the step ${shown(step)} must be a RetryPolicy, such as fixed(5, '10s'), not ${shown(policy)}`,
        );
      }
      policies.set(step, policy);
    }
    return policies;
  }

  /** Refuses now what a broker would refuse later: names that are too long, or that two queues would have. */
  #checkSizes(): void {
    const { length } = this.steps.join(',');
    if (length > LONGEST_SLIP) {
      throw new ConfigurationError(
        `the ${this.steps.length} steps of the pipeline ${shown(this.name)} take ${length} bytes; allowed: up to ${LONGEST_SLIP}`,
      );
    }
    try {
      this.topology().plan();
    } catch (error) {
      if (!(error instanceof TopologyError)) throw error;
      throw new ConfigurationError(`the steps of the pipeline ${shown(this.name)}: ${error.message}`, {
        cause: error,
      });
    }
  }

  #missing(error: BrokerRefusedError): BrokerRefusedError {
    return new BrokerRefusedError(error.replyCode, error.replyText, {
      what: `the pipeline ${shown(this.name)} is not declared; its declare(mq) does that`,
      cause: error,
    });
  }
}
