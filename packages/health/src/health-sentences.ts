/** Sentences that alert rules match: the same in every language of the family. */
export const HEALTH_SENTENCES: {
  readonly closed: string;
  readonly blocked: string;
  readonly stalled: string;
  readonly silent: string;
  readonly late: string;
  readonly failed: string;
} = Object.freeze({
  /** Of a connection that its owner has closed. */
  closed: 'the connection has been closed',
  /** Followed by `: ` and the broker's reason, where it gave one. */
  blocked: 'the broker has blocked this connection; publishing is paused',
  /** Followed by `: ` and the queues, sorted. */
  stalled: 'these consumers have stopped reading',
  /** Followed by ` within 3s`, or by `: ` and the error. */
  silent: 'the broker did not answer',
  /** Of a check among several. Followed by ` 5s`. */
  late: 'did not answer within',
  /** Of a check among several. Followed by `: ` and the error. */
  failed: 'the check itself failed',
});
