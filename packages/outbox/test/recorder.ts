import type {
  EncodedPayload,
  Logger,
  MessageRecorder,
  RawAnswer,
  RawMessage,
  RawPublisher,
  RawVerdict,
} from '@acemq/core';
import { PublishError } from '@acemq/core';

const encoder = new TextEncoder();

/** Encodes as JSON, with an origin and a trace of its own. */
export function recorder(trace: Record<string, string> = {}): MessageRecorder {
  return {
    origin: 'shop@test',
    encode: (payload): EncodedPayload => ({
      body: payload instanceof Uint8Array ? payload : encoder.encode(JSON.stringify(payload)),
      contentType: 'application/json',
    }),
    propagationHeaders: () => ({ ...trace }),
  };
}

/** One publish that waits for its answer. */
export interface Held {
  readonly exchange: string;
  readonly routingKey: string;
  readonly message: RawMessage;
  answer(verdict: RawVerdict, error?: Error): void;
}

/** A connection whose answers a test gives. */
export function heldPublisher(): RawPublisher & { readonly held: Held[]; readonly sent: string[] } {
  const held: Held[] = [];
  const sent: string[] = [];
  return {
    held,
    sent,
    publishRaw: (exchange, routingKey, message) => {
      sent.push(message.messageId ?? '');
      return new Promise<RawAnswer>((resolve) => {
        held.push({
          exchange,
          routingKey,
          message,
          answer: (verdict, error = new PublishError(`it was ${verdict}`)) =>
            resolve({
              verdict,
              judged: ['confirmed', 'unroutable', 'nacked', 'refused'].includes(verdict),
              error: verdict === 'confirmed' ? undefined : error,
            }),
        });
      });
    },
  };
}

/** A logger that says nothing. */
export const SILENT: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
