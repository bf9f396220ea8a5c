import { type Codec, ConfigurationError, DecodeError } from '@acemq/core';
import { bytesCodec } from './bytes.ts';
import { jsonCodec } from './json.ts';
import { textCodec } from './text.ts';

/**
 * Several codecs as one: writes with the first, reads with the first that claims the message's content type.
 *
 * One that claims a body and cannot read it is not followed by another's try: a broken JSON document is a
 * broken document, and not some bytes. Throws `ConfigurationError` when there is no codec.
 */
export function byContentType(...codecs: readonly Codec[]): Codec {
  const [first] = codecs;
  if (first === undefined) throw new ConfigurationError('byContentType needs at least one codec');
  const all = Object.freeze([...codecs]);
  const find = (contentType: string | undefined): Codec | undefined =>
    all.find((codec) => codec.canDecode(contentType));
  return Object.freeze({
    contentType: first.contentType,
    encode: (payload: unknown): Uint8Array => first.encode(payload),
    decode(body: Uint8Array, contentType: string | undefined): unknown {
      const codec = find(contentType);
      if (codec === undefined) {
        const known = all.map((one) => one.contentType).join(', ');
        throw new DecodeError(
          `no codec reads ${JSON.stringify(contentType ?? '')}; there are codecs for ${known}`,
        );
      }
      return codec.decode(body, contentType);
    },
    canDecode: (contentType: string | undefined): boolean => find(contentType) !== undefined,
  });
}

const OCTET_STREAM = /^\s*application\/octet-stream\b/i;

/**
 * Bytes that were called bytes, and nothing else: what no codec claims is parked, not handed on as if it were
 * meant.
 */
const NAMED_BYTES: Codec = Object.freeze({
  ...bytesCodec(),
  canDecode: (contentType: string | undefined): boolean =>
    contentType !== undefined && OCTET_STREAM.test(contentType),
}) as Codec;

/**
 * What a connection uses unless told otherwise: writes JSON; reads JSON, text and bytes by their content
 * type.
 */
export const DEFAULT_CODEC: Codec = byContentType(jsonCodec(), textCodec() as Codec, NAMED_BYTES);
