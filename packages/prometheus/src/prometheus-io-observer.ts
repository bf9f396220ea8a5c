import { ClientObserver } from './client-observer.ts';
import { installedClient } from './installed-client.ts';
import type { PrometheusObserverOptions } from './observer-options.ts';

/**
 * Writes the numbers to the collectors of `@prometheus-io/client`: into its default registry where no other is given, so
 * that they stand beside what the application reports itself.
 *
 * A metric appears with its first sample, under its name with underscores for dots and nothing added. What the registry
 * already has under that name is shared where type, labels and buckets are the same, so several observers may
 * write to one registry. A registry that is cleared gets its collectors again with the next samples.
 */
export class PrometheusObserver extends ClientObserver {
  /**
   * @throws ConfigurationError (`ACEMQ_CONFIGURATION`) when an option is not what it may be, when the client is not
   * installed, or when the registry has something else under the name of a metric of the library.
   */
  constructor(options: PrometheusObserverOptions = {}) {
    super(options, () => installedClient('@prometheus-io/client'));
  }
}
