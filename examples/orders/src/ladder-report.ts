/** What a consumer process tells the one that started it. */
export type LadderReport =
  | { readonly type: 'ready' }
  /** A delivery has reached the handler; `at` is in milliseconds since the epoch. */
  | { readonly type: 'delivered'; readonly attempt: number; readonly at: number };
