import type {
  CloseOptions,
  Connection,
  Consumer,
  ConsumerCloseReport,
  Publisher,
  SendOptions,
} from '@acemq/amqp';
import {
  type Ack,
  accept,
  type Codec,
  ConfigurationError,
  EncodeError,
  FatalError,
  HEADER_REPLY_ERROR,
  isAck,
  type Message,
  PublishError,
  reject,
  retry,
} from '@acemq/core';
import { isDirect } from './direct-reply-to.ts';
import { type Addressed, noReplyAddress, replyAddressOf } from './reply-address.ts';
import { failureText } from './reply-failure.ts';
import {
  type AnswerHandler,
  type ResolvedRespondOptions,
  type RespondOptions,
  resolveRespondOptions,
} from './responder-options.ts';
import { replyFields } from './wire-fields.ts';

/** Answers the requests in a queue. Made by {@link respond}. */
export class Responder<Query = unknown, Answer = unknown> {
  /** The queue that is consumed. */
  readonly queue: string;
  readonly #handler: AnswerHandler<Query, Answer>;
  readonly #replyType: string | undefined;
  readonly #answers: Publisher<unknown>;
  readonly #failures: Publisher<null>;
  #consumer: Consumer | undefined;
  #answered = 0;
  #failed = 0;
  #unanswerable = 0;

  private constructor(
    mq: Connection,
    queue: string,
    handler: AnswerHandler<Query, Answer>,
    { publisher, replyType }: ResolvedRespondOptions<Query, Answer>,
  ) {
    this.queue = queue;
    this.#handler = handler;
    this.#replyType = replyType;
    this.#answers = mq.publisher(publisher) as Publisher<unknown>;
    this.#failures = mq.publisher<null>({
      codec: writingNothing(publisher.codec ?? mq.codec),
      allowUnroutable: true,
    });
  }

  /** @internal Called by {@link respond}. */
  static async start<Query, Answer>(
    mq: Connection,
    queue: string,
    handler: AnswerHandler<Query, Answer>,
    options: RespondOptions<Query, Answer>,
  ): Promise<Responder<Query, Answer>> {
    const resolved = resolveRespondOptions(handler, options);
    const responder = new Responder(mq, queue, handler, resolved);
    responder.#consumer = await mq.consume<Query>(
      queue,
      (message) => responder.#handle(message),
      resolved.consume,
    );
    return responder;
  }

  /** Whether requests come in. False while it is cut off, refused or closed. */
  get running(): boolean {
    return this.#consumer?.running === true;
  }

  /** Why none do although nobody closed it; undefined while they do. */
  get stalled(): string | undefined {
    return this.#consumer?.stalled;
  }

  /** Answers that have left, or are about to: counted before, and taken back where the publish fails. */
  get answered(): number {
    return this.#answered;
  }

  /** Requests whose handler failed, and whose asker has been told so. */
  get failed(): number {
    return this.#failed;
  }

  /** Requests without a reply address. Their handler was not run. */
  get unanswerable(): number {
    return this.#unanswerable;
  }

  /** Ends it, as `close` of a consumer does: handlers that run are waited for, and their replies. */
  async close(options: CloseOptions = {}): Promise<ConsumerCloseReport> {
    // It is there: `start` has resolved.
    return (this.#consumer as Consumer).close(options);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close().then(() => undefined);
  }

  /** The queue, and whether it is being read. */
  toString(): string {
    return `Responder(${this.queue}, ${this.running ? 'running' : (this.stalled ?? 'closed')})`;
  }

  async #handle(message: Message<Query>): Promise<Ack> {
    const addressed: Addressed = { headers: message.envelope.headers, replyTo: message.replyTo };
    const address = replyAddressOf(addressed);
    if (address === undefined) {
      this.#unanswerable += 1;
      return reject(noReplyAddress(addressed));
    }
    let answer: Answer;
    try {
      answer = await this.#handler(message);
      if (isAck(answer)) throw answeredWithAck();
    } catch (error) {
      return this.#refuse(message, address, error);
    }
    this.#answered += 1;
    try {
      await this.#answers.send(answer === undefined ? null : answer, this.#to(message, address));
      return accept();
    } catch (error) {
      this.#answered -= 1;
      return error instanceof EncodeError
        ? this.#refuse(message, address, error)
        : retry(notSent(address, error));
    }
  }

  /** Tells the asker that it failed. Settled once: what cannot be told is tried again, and nothing else. */
  async #refuse(message: Message<Query>, address: string, failure: unknown): Promise<Ack> {
    const headers = { [HEADER_REPLY_ERROR]: failureText(failure) };
    this.#failed += 1;
    try {
      await this.#failures.send(null, { ...this.#to(message, address), headers });
      return reject(failure);
    } catch (error) {
      this.#failed -= 1;
      return retry(notSent(address, error));
    }
  }

  #to({ envelope }: Message<Query>, address: string): SendOptions {
    return { ...replyFields(envelope, this.#replyType), routingKey: address };
  }
}

/**
 * Answers the requests in a queue, each with what its handler returns. Resolves when the broker has accepted the
 * subscription; rejects as `mq.consume` does.
 *
 * - Answered: the request is accepted when the broker has taken the reply, whoever reads it.
 * - The handler throws, or its answer cannot be encoded or does not fit `replySchema`: the asker is told, and the request
 *   is dead-lettered. It is not tried again.
 * - The reply cannot be sent: the request is tried again as `retry` allows, and its handler runs again.
 * - The request names no reply address: it is dead-lettered, and its handler is not run.
 */
export function respond<Query = unknown, Answer = unknown>(
  mq: Connection,
  queue: string,
  handler: AnswerHandler<Query, Answer>,
  options: RespondOptions<Query, Answer> = {},
): Promise<Responder<Query, Answer>> {
  return Responder.start(mq, queue, handler, options);
}

/** For the body of a failure, which is nothing, in a codec that may have no form for that. */
function writingNothing(codec: Codec): Codec<null> {
  return {
    contentType: codec.contentType,
    decode: () => null,
    canDecode: (contentType) => codec.canDecode(contentType),
    encode(): Uint8Array {
      try {
        return codec.encode(null);
      } catch {
        return new Uint8Array(0);
      }
    },
  };
}

function notSent(address: string, cause: unknown): Error {
  const words = `the reply could not be sent to ${JSON.stringify(address)}`;
  const isLost = cause instanceof PublishError && cause.code === 'ACEMQ_PUBLISH_LOST';
  // RabbitMQ ends the connection over a direct address of another broker, and would do so again.
  return isLost && isDirect(address) ? new FatalError(words, { cause }) : new Error(words, { cause });
}

function answeredWithAck(): ConfigurationError {
  return new ConfigurationError(
    'the handler of a responder returns the answer itself, and returned accept(), retry(), reject(), park() or inProgress()',
  );
}
