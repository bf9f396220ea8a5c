import type { Stage, TransportFeature } from './stage.ts';

/** One thing that every transport does. */
export interface TransportCase {
  /** A sentence about behaviour. */
  readonly title: string;
  /** What the harness must be able to do for it. */
  readonly needs: readonly TransportFeature[];
  run(stage: Stage): Promise<void>;
}

/** A case that needs nothing but the transport. */
export function always(title: string, run: (stage: Stage) => Promise<void>): TransportCase {
  return { title, needs: [], run };
}

/** A case that needs something of the harness. */
export function given(
  needs: readonly TransportFeature[],
  title: string,
  run: (stage: Stage) => Promise<void>,
): TransportCase {
  return { title, needs, run };
}
