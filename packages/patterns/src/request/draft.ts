import {
  AbortedError,
  checkApplicationHeaders,
  checkRoutingKey,
  createEnvelope,
  type Envelope,
} from '@acemq/core';
import { signalOption } from '../option-checks.ts';
import { type AskOptions, checkAskOptions, timeoutOf } from './requester-options.ts';
import { requestFields } from './wire-fields.ts';

/** An ask, checked, before it begins. */
export interface Draft {
  readonly envelope: Envelope;
  readonly routingKey: string;
  /** Milliseconds. */
  readonly timeout: number;
  readonly signal: AbortSignal | undefined;
}

/** What an ask has where it says nothing. */
export interface DraftDefaults {
  readonly type: string | undefined;
  readonly version: number | undefined;
  readonly routingKey: string;
  readonly timeout: number;
  readonly address: string;
  readonly origin: string;
}

/** Stands for no options: they need not be looked at. */
export const NO_OPTIONS: AskOptions = Object.freeze({});

/**
 * What an ask comes to. Throws `ConfigurationError` for an option that cannot be used, and `AbortedError` for a signal that
 * is aborted already.
 *
 * @param now - Milliseconds since the epoch.
 */
export function draftOf(options: AskOptions, defaults: DraftDefaults, now: number): Draft {
  const { type, version, routingKey, timeout, address, origin } = defaults;
  if (options === NO_OPTIONS) {
    const fields = requestFields({ type, version }, address);
    return {
      envelope: createEnvelope(fields, { routingKey, now, origin }),
      routingKey,
      timeout,
      signal: undefined,
    };
  }
  checkAskOptions(options);
  const { headers, causationId } = options;
  const signal = signalOption(options.signal);
  if (signal?.aborted === true) throw abortedBy(signal, 'the request was aborted before it was sent');
  const key = options.routingKey === undefined ? routingKey : checkRoutingKey(options.routingKey);
  const asked = {
    type: options.type ?? type,
    version: options.version ?? version,
    causationId,
    headers: headers === undefined ? undefined : checkApplicationHeaders(headers),
  };
  return {
    envelope: createEnvelope(requestFields(asked, address), { routingKey: key, now, origin }),
    routingKey: key,
    timeout: options.timeout === undefined ? timeout : timeoutOf(options.timeout),
    signal,
  };
}

/** The error of an ask whose caller gave up. */
export function abortedBy(signal: AbortSignal, words: string): AbortedError {
  return new AbortedError(words, { cause: signal.reason });
}
