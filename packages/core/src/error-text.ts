/** How many causes are followed: what is further down is seldom what somebody looks for. */
const MOST_CAUSES = 4;

/** How many of the errors of an `AggregateError` are named. */
const MOST_OF_SEVERAL = 3;

/**
 * An error in one line, for `x-acemq-error` and logs: `ClassName: message`, then what caused it in brackets, unless
 * the message says so already. The `code` stands in for a message that is empty, and an `AggregateError` names the
 * first of its errors. The class alone where there is neither, text as it is, `no reason given` for nothing. Never
 * throws, whatever was thrown.
 */
export function describeError(error: unknown): string {
  try {
    return described(error, MOST_CAUSES);
  } catch {
    // A getter of the thrown object threw in turn; the message must still be settled.
    return 'an error that cannot be described';
  }
}

function described(error: unknown, causes: number): string {
  if (error === undefined || error === null || error === '') return 'no reason given';
  if (typeof error === 'string') return error;
  if (typeof error === 'function') return error.name === '' ? 'a function' : `function ${error.name}`;
  if (typeof error !== 'object') return String(error);
  const words = wordsOf(error, causes);
  const text = words === '' ? nameOf(error) : `${nameOf(error)}: ${words}`;
  const { cause } = error as { readonly cause?: unknown };
  if (cause === undefined || cause === null || causes === 0) return text;
  const why = described(cause, causes - 1);
  return isSaid(text, cause, why) ? text : `${text} (${why})`;
}

/** What it says: its message, or what stands in for one. */
function wordsOf(error: object, causes: number): string {
  const { message, code, errors } = error as {
    readonly message?: unknown;
    readonly code?: unknown;
    readonly errors?: unknown;
  };
  const several =
    Array.isArray(errors) && causes > 0
      ? errors.slice(0, MOST_OF_SEVERAL).map((one) => described(one, causes - 1))
      : [];
  if (several.length > 0 && Array.isArray(errors) && errors.length > several.length) {
    several.push(`and ${errors.length - several.length} more`);
  }
  const said = typeof message === 'string' && message !== '' ? message : typeof code === 'string' ? code : '';
  return [said, several.join('; ')].filter((words) => words !== '').join(': ');
}

/** Whether a text that wraps its cause repeats it, as many do: saying it twice would tell nobody more. */
function isSaid(text: string, cause: unknown, why: string): boolean {
  const message: unknown = (cause as { readonly message?: unknown }).message;
  return text.includes(why) || (typeof message === 'string' && message !== '' && text.includes(message));
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
