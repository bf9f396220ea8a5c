import {
  cutText,
  describeError,
  HEADER_REPLY_ERROR,
  type HeaderTable,
  LONGEST_REASON,
  ResponderError,
  readText,
} from '@acemq/core';

/** The name of a class, in the spelling of any language: `RangeError`, `java.io.IOException`, `Orders::Unknown`. */
const TYPE_AND_WORDS = /^([A-Za-z_$][\w$]*(?:(?:\.|::)[\w$]+)*): (.*)$/s;

/** What `acemq-error` says of what a handler threw: `TypeName: message`, at most 2,000 characters. */
export function failureText(error: unknown): string {
  return cutText(describeError(error), LONGEST_REASON);
}

/** The error for a reply that says that the responder failed; undefined for one that is an answer. */
export function failureOf(headers: Readonly<HeaderTable>): ResponderError | undefined {
  if (!Object.hasOwn(headers, HEADER_REPLY_ERROR)) return undefined;
  const text = readText(headers, HEADER_REPLY_ERROR);
  if (text === undefined) return new ResponderError('the responder failed and did not say why');
  const [, type, words] = TYPE_AND_WORDS.exec(text) ?? [];
  return type === undefined || words === undefined || words.trim() === ''
    ? new ResponderError(text)
    : new ResponderError(words, { type });
}
