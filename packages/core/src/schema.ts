import { DecodeError, EncodeError } from './errors.ts';

/**
 * The part of the Standard Schema interface (version 1) that is used here. Any validator that implements it
 * fits: zod, valibot, arktype and others.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** What a validator answers: the value, or what is wrong with it. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/** One thing that is wrong, and where. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** How many issues an error names; the rest are counted. */
const ISSUES_NAMED = 5;

/** The issues as one line: `orderId: expected a string; lines.0.sku: too short`. */
export function describeIssues(issues: readonly SchemaIssue[]): string {
  const named = issues.slice(0, ISSUES_NAMED).map((issue) => {
    const path = (issue.path ?? [])
      .map((part) => String(typeof part === 'object' && part !== null ? part.key : part))
      .join('.');
    return path === '' ? issue.message : `${path}: ${issue.message}`;
  });
  const more = issues.length - named.length;
  return more > 0 ? `${named.join('; ')}; and ${more} more` : named.join('; ');
}

/**
 * Checks a payload that is about to be written; throws, or rejects with, `EncodeError`. The payload itself is
 * what goes out, not what the schema made of it: the reader's schema is applied to what was written, and
 * doing it twice would transform twice.
 */
export function checkOutgoing(schema: StandardSchema, payload: unknown): void | Promise<void> {
  const checked = check(schema, payload, refuseOutgoing);
  return checked instanceof Promise ? checked.then(() => undefined) : undefined;
}

/** What a schema makes of a payload that was read. Throws, or rejects with, `DecodeError`. */
export function checkIncoming(schema: StandardSchema, payload: unknown): unknown | Promise<unknown> {
  return check(schema, payload, refuseIncoming);
}

function refuseOutgoing(words: string, cause?: unknown): EncodeError {
  return new EncodeError(`the payload does not fit its schema: ${words}`, { cause });
}

function refuseIncoming(words: string, cause?: unknown): DecodeError {
  return new DecodeError(`the payload does not fit its schema: ${words}`, { cause });
}

function check(
  schema: StandardSchema,
  payload: unknown,
  refuse: (words: string, cause?: unknown) => Error,
): unknown | Promise<unknown> {
  const take = (result: SchemaResult<unknown> | undefined): unknown => {
    if (result === undefined || result === null) throw refuse('the schema itself failed: it gave no answer');
    if (result.issues !== undefined) throw refuse(describeIssues(result.issues));
    return result.value;
  };
  const broken = (error: unknown): never => {
    throw refuse(
      `the schema itself failed: ${error instanceof Error ? error.message : String(error)}`,
      error,
    );
  };
  let result: SchemaResult<unknown> | Promise<SchemaResult<unknown>>;
  try {
    result = schema['~standard'].validate(payload);
  } catch (error) {
    return broken(error);
  }
  return isThenable(result) ? Promise.resolve(result).then(take, broken) : take(result);
}

function isThenable<T>(result: T | PromiseLike<T>): result is PromiseLike<T> {
  return typeof (result as { readonly then?: unknown } | null | undefined)?.then === 'function';
}
