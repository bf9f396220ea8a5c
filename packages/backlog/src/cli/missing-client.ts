import { ConfigurationError } from '@acemq/core';

/** Loads the first module that is installed. */
export async function firstInstalled<Module>(
  loaders: readonly (() => Promise<Module>)[],
  install: string,
): Promise<Module> {
  let missing: unknown;
  for (const load of loaders) {
    try {
      return await load();
    } catch (error) {
      const code = (error as { code?: unknown } | undefined)?.code;
      if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') throw error;
      missing = error;
    }
  }
  throw new ConfigurationError(`a client is missing; this adds it: ${install}`, { cause: missing });
}
