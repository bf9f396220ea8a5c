import { type ParseArgsConfig, parseArgs } from 'node:util';
import { ConfigurationError } from '@acemq/core';
import { didYouMean } from './nearest.ts';

type Flags = NonNullable<ParseArgsConfig['options']>;
type Parsed<Options extends Flags> = ReturnType<
  typeof parseArgs<{ args: string[]; options: Options; allowPositionals: true }>
>;

/** Reads the flags of a command. What is refused is never printed but for its name: it may be a URL with a password. */
export function flags<const Options extends Flags>(
  args: readonly string[],
  options: Options,
): Parsed<Options>['values'] {
  const { values, positionals } = flagsAndNames(args, options);
  if (positionals.length === 0) return values;
  throw new ConfigurationError('every value needs its flag before it, such as --limit 60s');
}

/** Reads the flags of a command, and what stands between them. */
export function flagsAndNames<const Options extends Flags>(
  args: readonly string[],
  options: Options,
): Parsed<Options> {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    const { code, message } = error as Error & { code?: unknown };
    if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') throw new ConfigurationError(unknown(args, options));
    if (code === 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE') throw new ConfigurationError(inWords(message));
    throw error;
  }
}

/** Node takes a value that begins with a dash for another flag, and says so at length. */
function inWords(message: string): string {
  const [, name] = /Option '(?:-\w, )?(--[\w-]+)(?: <value>)?' argument/.exec(message) ?? [];
  if (name !== undefined && message.includes('ambiguous')) {
    return `${name} needs a value, and one that begins with a dash is given as ${name}=VALUE`;
  }
  return name !== undefined && message.includes('missing')
    ? `${name} needs a value`
    : (message.split('\n', 1)[0] as string);
}

function unknown(args: readonly string[], options: Flags): string {
  const names = args.filter((arg) => /^-./.test(arg)).map((arg) => arg.split('=', 1)[0] as string);
  const known = Object.keys(options).map((name) => `--${name}`);
  const refused = names.find((name) => !known.includes(name)) ?? '-';
  return `there is no ${refused}${didYouMean(refused, known)}`;
}
