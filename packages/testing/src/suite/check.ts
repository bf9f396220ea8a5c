/** What a case found, and what it should have found. */
function failure(what: string, actual: unknown, expected: unknown): Error {
  return new Error(`${what}: found ${shown(actual)}, expected ${shown(expected)}`);
}

function shown(value: unknown): string {
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  if (value instanceof RegExp || value === undefined || typeof value === 'function') return String(value);
  return (
    JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part)) ??
    String(value)
  );
}

/** Throws unless both are the same, compared by their contents. Prototypes do not count. */
export function same(what: string, actual: unknown, expected: unknown): void {
  if (!alike(actual, expected)) throw failure(what, actual, expected);
}

/** Throws unless the text matches. */
export function matches(what: string, actual: unknown, expected: RegExp): void {
  if (typeof actual !== 'string' || !expected.test(actual)) throw failure(what, actual, expected);
}

/** Throws unless a condition holds. */
export function holds(what: string, condition: boolean): void {
  if (!condition) throw new Error(`${what}: does not hold`);
}

/** A class of error, recognised by `instanceof`. */
type ErrorClass<E extends Error> = abstract new (...args: never[]) => E;

/** The error that a promise rejects with. Throws when it resolves, or rejects with another class. */
export async function rejected<E extends Error>(
  what: string,
  promise: Promise<unknown>,
  type: ErrorClass<E>,
): Promise<E> {
  try {
    await promise;
  } catch (error) {
    return isA(what, error, type);
  }
  throw new Error(`${what}: resolved, expected ${type.name}`);
}

/** The error that a call throws. */
export function thrown<E extends Error>(what: string, call: () => unknown, type: ErrorClass<E>): E {
  try {
    call();
  } catch (error) {
    return isA(what, error, type);
  }
  throw new Error(`${what}: returned, expected ${type.name}`);
}

/** The same value as an error of this class. Throws when it is not one. */
export function isA<E extends Error>(what: string, error: unknown, type: ErrorClass<E>): E {
  if (error instanceof type) return error;
  throw failure(what, error, type.name);
}

function alike(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (a instanceof Date || b instanceof Date) {
    return a instanceof Date && b instanceof Date && a.getTime() === b.getTime();
  }
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  if (a instanceof Uint8Array !== b instanceof Uint8Array) return false;
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => Object.hasOwn(b, name) && alike(read(a, name), read(b, name)));
}

function read(value: object, name: string): unknown {
  return (value as Record<string, unknown>)[name];
}
