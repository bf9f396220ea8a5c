import { type Codec, ConfigurationError, type StandardSchema, shown } from '@acemq/core';

/** The option as a codec, or undefined. Throws `ConfigurationError`, as all of these do. */
export function codecOption(value: Codec | undefined, option: string): Codec | undefined {
  if (value === undefined) return undefined;
  const given: unknown = value;
  const methods = ['encode', 'decode', 'canDecode'] as const;
  const fits = isObject(given) && methods.every((method) => typeof given[method] === 'function');
  if (fits) return value;
  throw new ConfigurationError(
    `${option} must have the methods ${methods.join(', ')}, and is ${shown(value)}`,
  );
}

/** The option as something that implements the Standard Schema interface, or undefined. */
export function schemaOption<In, Out>(
  value: StandardSchema<In, Out> | undefined,
  option: string,
): StandardSchema<In, Out> | undefined {
  if (value === undefined) return undefined;
  const given: unknown = value;
  const standard = isObject(given) ? given['~standard'] : undefined;
  if (isObject(standard) && typeof standard['validate'] === 'function') return value;
  throw new ConfigurationError(
    `${option} must be a Standard Schema validator, as those of zod, valibot and arktype are, and is ${shown(value)}`,
  );
}

/** The option as text with something in it, or undefined. */
export function textOption(value: string | undefined, option: string): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'string' && value.trim() !== '') return value;
  throw new ConfigurationError(`${option} must be text that is not blank, and is ${shown(value)}`);
}

/** The option as true or false, or the default. */
export function flagOption(value: boolean | undefined, option: string, otherwise: boolean): boolean {
  if (value === undefined) return otherwise;
  if (typeof value === 'boolean') return value;
  throw new ConfigurationError(`${option} must be true or false, and is ${shown(value)}`);
}

/** The option as a signal, or undefined. */
export function signalOption(value: AbortSignal | undefined): AbortSignal | undefined {
  if (value === undefined || value instanceof AbortSignal) return value;
  throw new ConfigurationError(`signal must be an AbortSignal, and is ${shown(value)}`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}
