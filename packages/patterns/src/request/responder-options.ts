import type { ConsumeOptions, PublisherOptions } from '@acemq/amqp';
import {
  type Codec,
  ConfigurationError,
  checkOptions,
  type Message,
  type StandardSchema,
  shown,
} from '@acemq/core';
import { CONSUME_OPTIONS } from '../consume-option-names.ts';
import { codecOption, schemaOption, textOption } from '../option-checks.ts';

/**
 * Answers one request. What it returns is the answer, `null` where that is nothing; what it throws is what the asker is
 * told.
 */
export type AnswerHandler<Query = unknown, Answer = unknown> = (
  message: Message<Query>,
) => Answer | Promise<Answer>;

/** How requests are consumed, and how they are answered. */
export interface RespondOptions<Query = unknown, Answer = unknown> extends ConsumeOptions<Query> {
  /** Writes the replies. Default: `codec`, or else the connection's. */
  readonly replyCodec?: Codec | undefined;
  /**
   * Checks the answers before they are encoded, and gives them their type. One that does not fit is the responder's own
   * failure.
   */
  readonly replySchema?: StandardSchema<Answer, unknown> | undefined;
  /** The logical type of the replies. Default: that of the request with `.reply` behind it. */
  readonly replyType?: string | undefined;
}

/** The options, checked as far as the consumer does not do it. */
export interface ResolvedRespondOptions<Query, Answer> {
  readonly consume: ConsumeOptions<Query>;
  readonly publisher: PublisherOptions<Answer>;
  readonly replyType: string | undefined;
}

const OPTIONS = [...CONSUME_OPTIONS, 'replyCodec', 'replySchema', 'replyType'];

/** Checks the options of a responder. Throws `ConfigurationError`. */
export function resolveRespondOptions<Query, Answer>(
  handler: AnswerHandler<Query, Answer>,
  options: RespondOptions<Query, Answer>,
): ResolvedRespondOptions<Query, Answer> {
  checkOptions(options, OPTIONS, 'respond');
  if (typeof handler !== 'function') {
    throw new ConfigurationError(
      `the handler must be a function that returns the answer, and is ${shown(handler)}`,
    );
  }
  const { replyCodec, replySchema, replyType, ...consume } = options;
  return {
    consume,
    publisher: {
      codec: codecOption(replyCodec, 'replyCodec') ?? codecOption(consume.codec, 'codec'),
      schema: schemaOption(replySchema, 'replySchema'),
      // Nobody may be waiting any more, and that is no fault of the reply's.
      allowUnroutable: true,
    },
    replyType: textOption(replyType, 'replyType'),
  };
}
