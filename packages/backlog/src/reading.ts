/** One kind of job at one moment. */
export interface KindReading {
  /** The entry's kind on a stream, the queue's name on RabbitMQ, `exchange/routing key` of an outbox. */
  readonly kind: string;
  /** Jobs that are not finished, those in work included; `null` when it is not known. */
  readonly depth: number | null;
  /** Seconds since the oldest of them was added; 0 without one, `null` when it is not known. */
  readonly oldestAge: number | null;
  /** The age may be less than that: it is the most it can be. */
  readonly ageIsUpperBound?: boolean;
  /** Those of the depth that somebody was given and has not finished; left out where nobody says. */
  readonly held?: number | null;
  /** Jobs that wait for a retry, beside the depth; left out where there is no such thing. */
  readonly waitingRetry?: number | null;
  /** Jobs completed since some moment; a counter. Left out where the source cannot know. */
  readonly completed?: number | null;
  /** Acknowledgements that the broker has counted: completed jobs, but retries and dead letters too. */
  readonly settled?: number | null;
}

/** What a source says about its queue at one moment. */
export interface BacklogReading {
  /** When the picture was taken, in milliseconds since the epoch. */
  readonly asOf: number;
  readonly kinds: readonly KindReading[];
  /** Jobs that were given up; `null` when it is not known. */
  readonly deadLength: number | null;
  /** What the server itself calls the lag of the group: shown beside the count, and used for nothing. */
  readonly lag?: number | null;
  /** Up to where it was counted: on a stream the id of the last entry that was ever added. */
  readonly position?: string;
}

/** A queue whose backlog can be read. */
export interface BacklogSource {
  /** What it is called in logs and errors, such as `stream "jobs", group "workers"`. No password is in it. */
  readonly name: string;
  /**
   * Takes one picture. Rejects when the whole of it cannot be had, never with a part of it.
   *
   * @param signal - Ends the reading early, which then rejects.
   */
  read(signal?: AbortSignal): Promise<BacklogReading>;
}
