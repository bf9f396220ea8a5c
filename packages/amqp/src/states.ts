/**
 * The states of a connection's link, in the order from best to worst.
 *
 * ```
 * connecting ──► restoring ──► connected ──► retrying ──► restoring ──► …
 *      └──────────────┴───────────────┴───────────┴──► closed
 * ```
 */
export const LINK_STATES: readonly ConnectionState[] = Object.freeze([
  'connected',
  'restoring',
  'connecting',
  'retrying',
  'closed',
]);

/**
 * - `connected`: up, and everything that could be restored is.
 * - `restoring`: the link is up; topology and consumers are being declared on it again.
 * - `connecting`: the first attempt, made by `connect`.
 * - `retrying`: lost; waiting for the next attempt, or in the middle of one.
 * - `closed`: closed by its owner. Final.
 */
export type ConnectionState = 'connected' | 'restoring' | 'connecting' | 'retrying' | 'closed';

/**
 * Which of a connection's two links: the one it publishes on, or the one it consumes, asks and declares on.
 */
export type LinkRole = 'publish' | 'consume';

/** What {@link Connection.onState} listeners are told. */
export type StateEvent =
  /** The link is gone. */
  | { readonly type: 'lost'; readonly link: LinkRole; readonly reason: string }
  /** The next attempt comes in `delay` milliseconds; `reason` says why the one before failed. */
  | {
      readonly type: 'retrying';
      readonly link: LinkRole;
      readonly attempt: number;
      readonly delay: number;
      readonly reason: string;
    }
  /** The link is up again, after `attempts` attempts, with everything restored that the broker accepts. */
  | { readonly type: 'recovered'; readonly link: LinkRole; readonly attempts: number }
  /** The broker has an alarm and takes no publishes. */
  | { readonly type: 'blocked'; readonly link: LinkRole; readonly reason: string }
  | { readonly type: 'unblocked'; readonly link: LinkRole }
  /** Closed by its owner. Told once for the connection, not once a link. */
  | { readonly type: 'closed' };

/** The worse of two states. */
export function worseState(a: ConnectionState, b: ConnectionState): ConnectionState {
  return LINK_STATES.indexOf(a) >= LINK_STATES.indexOf(b) ? a : b;
}
