import { createRequire } from 'node:module';
import { ConfigurationError } from '@acemq/core';
import type { PrometheusClient } from './client.ts';

/**
 * Loads a client that the application has installed: synchronously, since an observer is made by a constructor,
 * and only when asked, since either client may be absent. The application's own `import` of it gets the same
 * module, and so the same default registry.
 *
 * @throws ConfigurationError (`ACEMQ_CONFIGURATION`) with the install command when it is not installed.
 */
export function installedClient(name: 'prom-client' | '@prometheus-io/client'): PrometheusClient {
  try {
    return createRequire(import.meta.url)(name) as PrometheusClient;
  } catch (error) {
    if (!isMissing(error, name)) throw error;
    throw new ConfigurationError(
      `PrometheusObserver needs ${name}, which is not installed: npm install ${name} (or give the module as the option client)`,
      { cause: error },
    );
  }
}

/** Not so where it is there and something that it needs is not. */
function isMissing(error: unknown, name: string): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    error.code === 'MODULE_NOT_FOUND' &&
    error.message.includes(`'${name}'`)
  );
}
