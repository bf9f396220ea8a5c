import { type ParseArgsConfig, parseArgs } from 'node:util';
import { ConfigurationError } from '@acemq/core';
import { didYouMean } from './nearest.ts';

type Flags = NonNullable<ParseArgsConfig['options']>;

/** Reads the flags of a command. What is refused is never printed but for its name: it may be a URL with a password. */
export function flags<const Options extends Flags>(
  args: readonly string[],
  options: Options,
): ReturnType<typeof parseArgs<{ args: string[]; options: Options }>>['values'] {
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    const { code, message } = error as Error & { code?: unknown };
    if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') throw new ConfigurationError(unknown(args, options));
    if (code === 'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL') {
      throw new ConfigurationError('every value needs its flag before it, such as --limit 60s');
    }
    if (code === 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE') {
      throw new ConfigurationError(message.split('\n', 1)[0] as string);
    }
    throw error;
  }
}

function unknown(args: readonly string[], options: Flags): string {
  const names = args.filter((arg) => /^-./.test(arg)).map((arg) => arg.split('=', 1)[0] as string);
  const known = Object.keys(options).map((name) => `--${name}`);
  const refused = names.find((name) => !known.includes(name)) ?? '-';
  return `there is no ${refused}${didYouMean(refused, known)}`;
}
