import { type Envelope, type EnvelopeFields, HEADER_REPLY_TO } from '@acemq/core';

/** What an ask may say of its request. */
export type AskedFields = Pick<EnvelopeFields, 'type' | 'version' | 'causationId' | 'headers'>;

/** What a message is published with besides its payload. */
export type WireFields = EnvelopeFields & { readonly replyTo?: string | undefined };

/**
 * Of a request. Its reply address is there twice, in the header and in the property; its id is a new one, and so is its
 * correlation, which is the id.
 */
export function requestFields(
  { type, version, causationId, headers }: AskedFields,
  address: string,
): WireFields {
  return {
    type,
    version,
    causationId,
    headers: { ...headers, [HEADER_REPLY_TO]: address },
    replyTo: address,
  };
}

/**
 * Of the reply to a request: the same correlation, the request's id as causation, and the type of the request with `.reply`
 * behind it, unless the responder says another.
 */
export function replyFields(
  { id, type, correlationId }: Pick<Envelope, 'id' | 'type' | 'correlationId'>,
  replyType: string | undefined,
): WireFields {
  return { type: replyType ?? `${type}.reply`, correlationId, causationId: id };
}
