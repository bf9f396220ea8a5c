/**
 * An error in one line, for `x-acemq-error` and logs: `ClassName: message`, the class alone without a
 * message, text as it is, `no reason given` for nothing. Never throws, whatever was thrown.
 */
export function describeError(error: unknown): string {
  try {
    return described(error);
  } catch {
    // A getter of the thrown object threw in turn; the message must still be settled.
    return 'an error that cannot be described';
  }
}

function described(error: unknown): string {
  if (error === undefined || error === null || error === '') return 'no reason given';
  if (typeof error === 'string') return error;
  if (typeof error === 'function') return error.name === '' ? 'a function' : `function ${error.name}`;
  if (typeof error !== 'object') return String(error);
  const message: unknown = (error as { readonly message?: unknown }).message;
  const name = nameOf(error);
  return typeof message === 'string' && message !== '' ? `${name}: ${message}` : name;
}

/**
 * The name an error was given, or else its class: a class that only says `extends Error` inherits the name
 * `Error`, which tells a reader nothing.
 */
function nameOf(error: object): string {
  const prototype: unknown = Object.getPrototypeOf(error);
  const named =
    Object.hasOwn(error, 'name') ||
    (typeof prototype === 'object' && prototype !== null && Object.hasOwn(prototype, 'name'));
  const given: unknown = (error as { readonly name?: unknown }).name;
  const made: unknown = (error as { readonly constructor?: { readonly name?: unknown } }).constructor?.name;
  for (const name of named ? [given, made] : [made, given]) {
    if (typeof name === 'string' && name !== '') return name;
  }
  return 'Object';
}
