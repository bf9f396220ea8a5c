/** What makes a message the same as another. */
export interface InboxKey {
  /** By default the queue, so that two queues that each get a copy of one event do not take each other's for a repeat. */
  readonly scope: string;
  /** By default the message's id. */
  readonly id: string;
}

/**
 * What a claim is answered with:
 *
 * - `claimed`: the caller handles the message, and confirms or releases the claim under `owner`
 * - `duplicate`: it was handled before
 * - `in_progress`: somebody else is at it
 */
export type Claim =
  | { readonly answer: 'claimed'; readonly owner: string }
  | { readonly answer: 'duplicate' }
  | { readonly answer: 'in_progress' };

/** Where claims and confirmations are kept. */
export interface InboxStore {
  /**
   * Claims a key for one caller, whoever else asks at the same time. A claim counts for the claim time-out, since its
   * owner may have died; after that it is given to who asks next. Rejects where the store cannot tell: the message is
   * then retried.
   */
  claim(key: InboxKey): Promise<Claim>;
  /**
   * Says that the message was handled, which is kept for as long as the store keeps it. Resolves to false where the claim
   * was another's by then; that is left as it is.
   */
  confirm(key: InboxKey, owner: string): Promise<boolean>;
  /** Gives the claim back. Resolves to false where it was not this owner's any more; then nothing is changed. */
  release(key: InboxKey, owner: string): Promise<boolean>;
  /** Ends the background work, once what runs of it is done. What the store was given stays open. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
