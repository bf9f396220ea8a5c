import { ConfigurationError } from '@acemq/core';
import type { CutOptions, FaultControls, FaultDirection } from './controls.ts';
import type { FlowSettings } from './flow.ts';
import { checkDelay, checkLimit, cutPoint, directionsOf } from './value-checks.ts';

/** The controls that change settings, each as the settings it changes, whoever holds these. */
export abstract class SettingsByDirection implements FaultControls {
  readonly #framed: boolean;

  /** `framed` says whether the frames can be seen. */
  constructor(framed: boolean) {
    this.#framed = framed;
  }

  abstract cut(options?: CutOptions): void;

  protected abstract change(direction: FaultDirection, settings: Partial<FlowSettings>): void;

  /** As {@link change}, for what counts from the beginning of a connection. */
  protected abstract changeFromStart(direction: FaultDirection, settings: Partial<FlowSettings>): void;

  freeze(direction?: FaultDirection | 'both'): void {
    for (const one of directionsOf('freeze', direction)) this.change(one, { frozen: true });
  }

  thaw(direction?: FaultDirection | 'both'): void {
    for (const one of directionsOf('thaw', direction)) this.change(one, { frozen: false });
  }

  delay(ms: number, direction?: FaultDirection | 'both'): void {
    checkDelay(ms);
    for (const one of directionsOf('delay', direction)) this.change(one, { delay: ms });
  }

  limit(bytesPerSecond: number | undefined, direction?: FaultDirection | 'both'): void {
    checkLimit(bytesPerSecond);
    for (const one of directionsOf('limit', direction)) this.change(one, { limit: bytesPerSecond });
  }

  cutAtByte(direction: FaultDirection, n: number | undefined, options: CutOptions = {}): void {
    const point = cutPoint('cutAtByte', direction, n, options);
    this.changeFromStart(direction, { cutAtByte: point });
  }

  cutAfterFrame(direction: FaultDirection, n: number | undefined, options: CutOptions = {}): void {
    const point = cutPoint('cutAfterFrame', direction, n, options);
    if (!this.#framed) {
      throw new ConfigurationError(
        'cutAfterFrame: the frames of an amqps: connection cannot be seen; allowed: cutAtByte, or an amqp: URL',
      );
    }
    this.changeFromStart(direction, { cutAfterFrame: point });
  }
}
