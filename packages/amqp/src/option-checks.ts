import {
  ConfigurationError,
  checkOptions,
  type Duration,
  type HeaderTable,
  milliseconds,
  type StandardSchema,
  shown,
} from '@acemq/core';

/** The option as a whole number within its range, or the default. */
export function wholeNumber(
  value: number | undefined,
  option: string,
  range: { readonly min: number; readonly max: number; readonly otherwise: number },
): number {
  if (value === undefined) return range.otherwise;
  if (!Number.isInteger(value) || value < range.min || value > range.max) {
    throw new ConfigurationError(
      `${option} must be a whole number from ${range.min} to ${range.max}, and is ${shown(value)}`,
    );
  }
  return value;
}

/** The option as text with something in it, or the default. */
export function nonBlank(value: string | undefined, option: string, otherwise: string): string {
  if (value === undefined) return otherwise;
  if (typeof value !== 'string' || value.trim() === '') {
    throw new ConfigurationError(`${option} must be text that is not blank, and is ${shown(value)}`);
  }
  return value;
}

/** The option as true or false, or the default. */
export function yesOrNo(value: boolean | undefined, option: string, otherwise: boolean): boolean {
  if (value === undefined) return otherwise;
  if (typeof value !== 'boolean') {
    throw new ConfigurationError(`${option} must be true or false, and is ${shown(value)}`);
  }
  return value;
}

/** Refuses a value that lacks one of the methods it is used by. */
export function requireMethods(value: unknown, methods: readonly string[], option: string): void {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) {
    throw new ConfigurationError(
      `${option} must have the methods ${methods.join(', ')}, and is ${shown(value)}`,
    );
  }
  const missing = methods.filter(
    (method) => typeof (value as Record<string, unknown>)[method] !== 'function',
  );
  if (missing.length > 0) {
    throw new ConfigurationError(
      `${option} must have the methods ${methods.join(', ')}; missing: ${missing.join(', ')}`,
    );
  }
}

/** The option as something that implements the Standard Schema interface, or undefined. */
export function schemaOf<In, Out>(value: StandardSchema<In, Out> | undefined): StandardSchema | undefined {
  if (value === undefined) return undefined;
  const given: unknown = value;
  const isObject = (typeof given === 'object' && given !== null) || typeof given === 'function';
  const standard = isObject ? (given as Partial<StandardSchema>)['~standard'] : undefined;
  if (typeof standard?.validate !== 'function') {
    throw new ConfigurationError(
      `schema must be a Standard Schema validator, as those of zod, valibot and arktype are, and is ${shown(given)}`,
    );
  }
  return value as StandardSchema;
}

/** The option as a signal, or undefined. */
export function signalOf(value: AbortSignal | undefined): AbortSignal | undefined {
  if (value === undefined || value instanceof AbortSignal) return value;
  throw new ConfigurationError(`signal must be an AbortSignal, and is ${shown(value)}`);
}

/** The option as a table of arguments, or an empty one. */
export function argumentsOf(value: Readonly<HeaderTable> | undefined): Readonly<HeaderTable> {
  if (value === undefined) return {};
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ConfigurationError(`arguments must be an object, and is ${shown(value)}`);
  }
  return value;
}

/** What a `close` may be given. */
export interface CloseOptions {
  /** How long to wait for what is under way, from 0. Default: the connection's `closeTimeout`. */
  readonly timeout?: Duration | undefined;
}

/** The milliseconds that a `close` waits. */
export function closeTimeoutOf(options: CloseOptions, otherwise: number): number {
  checkOptions(options, ['timeout'], 'close');
  return options.timeout === undefined ? otherwise : milliseconds(options.timeout, 'timeout');
}
