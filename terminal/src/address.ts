import { ConfigurationError } from '@acemq/core';

/**
 * The URL of a server, from the command line or else from the environment. A message never has it in it, since a password may
 * be.
 */
export function address(
  onLine: string | undefined,
  inEnvironment: string | undefined,
  { flag, variable, example }: { readonly flag: string; readonly variable: string; readonly example: string },
): string {
  const url = onLine || inEnvironment;
  if (url === undefined || url === '') {
    throw new ConfigurationError(`--${flag} is missing, and ${variable} is not set`);
  }
  const scheme = (text: string): string | undefined => /^(\w+?)(ql|s)?:\/\//.exec(text)?.[1];
  if (!URL.canParse(url) || scheme(url) !== scheme(example)) {
    throw new ConfigurationError(`${onLine ? `--${flag}` : variable} must be a URL such as ${example}`);
  }
  return url;
}
