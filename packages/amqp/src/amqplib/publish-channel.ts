import type { Duplex } from 'node:stream';
import {
  type BrokerRefusedError,
  ConnectionLostError,
  checkMessage,
  EncodeError,
  type Outbound,
  type PublishChannel,
  type PublishChannelEvents,
  type PublishListener,
} from '@acemq/core';
import type { Message } from 'amqplib/callback_api';
import { ConfirmWindow, type Pending } from './confirm-window.ts';
import { type LinkChannel, lostAs } from './link-channel.ts';
import type { LinkState } from './link-state.ts';
import { bufferOf, wireProperties } from './properties.ts';
import { wordsOf } from './refusal.ts';
import { checkTableSize, refuseAbove } from './table-size.ts';
import type { MessageSender, WireProperties } from './untyped.ts';

/** What `basic.ack` and `basic.nack` say. */
interface Confirm {
  readonly deliveryTag: number;
  readonly multiple: boolean;
}

/** What a publish channel needs of its link. */
export interface PublishRoom {
  readonly state: LinkState;
  readonly socket: Duplex;
  /** Bytes. */
  readonly frameMax: number;
}

/**
 * A confirm channel of amqplib, with the confirms and returns matched here: one small object a message, no
 * closure.
 */
export class AmqplibPublishChannel implements PublishChannel {
  readonly #channel: LinkChannel<MessageSender>;
  readonly #room: PublishRoom;
  readonly #window = new ConfirmWindow();
  readonly #confirmed = (pending: Pending): void => this.#tell(pending, true);
  readonly #nacked = (pending: Pending): void => this.#tell(pending, false);

  constructor(channel: LinkChannel<MessageSender>, room: PublishRoom, events: PublishChannelEvents) {
    this.#channel = channel;
    this.#room = room;
    channel.raw.on('ack', (confirm: Confirm) => {
      this.#window.settle(confirm.deliveryTag, confirm.multiple, this.#confirmed);
    });
    channel.raw.on('nack', (confirm: Confirm) => {
      this.#window.settle(confirm.deliveryTag, confirm.multiple, this.#nacked);
    });
    channel.raw.on('return', (message: Message) => this.#returned(message));
    channel.onGone = (error) => {
      this.#cut(error);
      events.closed(room.state.closing ? room.state.gone() : error);
    };
  }

  get open(): boolean {
    return this.#channel.open && this.#room.state.open;
  }

  publish(exchange: string, routingKey: string, message: Outbound, listener: PublishListener): boolean {
    if (!this.open) throw lostAs(this.#channel.gone('publish'));
    checkMessage(exchange, routingKey, message);
    const properties = wireProperties(message);
    refuseAbove(this.#room.frameMax, properties);
    const { mandatory, messageId } = message;
    const fields = { exchange, routingKey, mandatory, immediate: false, ticket: 0 } as const;
    let roomLeft: boolean;
    try {
      roomLeft = this.#channel.raw.sendMessage(fields, properties, bufferOf(message.body));
    } catch (error) {
      throw notWritten(error, properties, this.#channel);
    }
    this.#window.push({ exchange, routingKey, messageId, mandatory, listener, returned: undefined });
    return roomLeft && !this.#room.socket.writableNeedDrain;
  }

  close(): Promise<void> {
    const closing = this.#channel.close();
    this.#cut(new ConnectionLostError('the channel was closed before the broker confirmed the message'));
    return closing;
  }

  #returned(message: Message): void {
    const { exchange, routingKey, replyCode, replyText } = message.fields as Message['fields'] & {
      readonly replyCode: number;
      readonly replyText: string;
    };
    const pending = this.#window.find(exchange, routingKey, message.properties.messageId);
    if (pending !== undefined) pending.returned = `${replyCode} ${replyText}`;
  }

  #tell(pending: Pending, confirmed: boolean): void {
    const { listener, returned } = pending;
    try {
      if (!confirmed) listener.answered('nacked', '');
      else if (returned === undefined) listener.answered('confirmed', '');
      else listener.answered('unroutable', returned);
    } catch (error) {
      // One listener that throws must not keep the rest of a multiple confirm from theirs.
      this.#room.state.drop(error);
    }
  }

  #cut(error: BrokerRefusedError | ConnectionLostError): void {
    this.#window.drain((pending) => {
      try {
        pending.listener.cut(error);
      } catch (thrown) {
        this.#room.state.drop(thrown);
      }
    });
  }
}

/**
 * amqplib throws its own error for a channel that is closing, and the encoder's for headers that are too
 * large. Their size is worked out only then: it takes about as long as to encode them.
 */
function notWritten(error: unknown, properties: WireProperties, channel: LinkChannel): Error {
  if (!(error instanceof TypeError || error instanceof RangeError)) return lostAs(channel.gone('publish'));
  checkTableSize(properties.headers, 'headers');
  return new EncodeError(`the message cannot be encoded: ${wordsOf(error)}`, { cause: error });
}
