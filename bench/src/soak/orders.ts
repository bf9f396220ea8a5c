/** What a process of the crew is told, once, when it is started. */
export interface Assignment {
  readonly role: 'publisher' | 'consumer';
  /** `publisher 0`, `consumer 1`, … */
  readonly name: string;
  /** The broker, by way of this process's own proxy. */
  readonly url: string;
  /** Its file of numbers. */
  readonly journal: string;
  /** Its log: warnings and errors of the library. */
  readonly log: string;
  /** A publisher's first number, and how far its numbers lie apart. */
  readonly first: number;
  readonly stride: number;
}

/** What the director asks a process, each with its answer. */
export interface Answers {
  /** How it stands with the broker. */
  readonly health: { readonly status: string; readonly detail: string };
  /** Send nothing more, and wait for what was sent. */
  readonly rest: { readonly sent: number; readonly unsettled: number };
  /** Close everything. */
  readonly close: Farewell;
}

export type Question = keyof Answers;

/** What is left of a process that has closed its connection. */
export interface Farewell {
  /** Whether `close` came to its end within its deadline, with nothing left. */
  readonly finished: boolean;
  /** Sockets and timers that are still there. */
  readonly leftovers: readonly string[];
  /** Exceptions and rejections that nobody caught. */
  readonly uncaught: readonly string[];
  /** Errors of sends that nobody should get. */
  readonly unexpected: readonly string[];
  /** The longest that a send took to be settled, in milliseconds. */
  readonly slowest: number;
  /** Settlements that came after the channel of their delivery had gone. */
  readonly late: number;
}

/** How a process is doing, told every two seconds. */
export interface Sample {
  /** Megabytes in use after a garbage collection. */
  readonly heap: number;
  /** Megabytes of the whole process. */
  readonly rss: number;
  readonly sockets: number;
  readonly timers: number;
  /** Messages sent, or handlers run, so far. */
  readonly done: number;
  /** Sends without an outcome, or deliveries in flight. */
  readonly open: number;
  /** Deliveries whose copy cannot be placed at present. */
  readonly held: number;
}

/** What a process says. */
export type Report =
  | { readonly type: 'ready' }
  | { readonly type: 'sample'; readonly sample: Sample }
  | { readonly type: 'answer'; readonly question: Question; readonly answer: Answers[Question] };
