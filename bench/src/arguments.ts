/** What is compared, with how many messages a process and in how many rounds. */
export interface BenchArguments {
  readonly comparison: 'raw' | 'telemetry';
  readonly messages: number;
  readonly rounds: number;
}

const DEFAULTS = {
  raw: { messages: 40_000, rounds: 5 },
  telemetry: { messages: 20_000, rounds: 9 },
} as const;

/** Reads `[telemetry] [messages] [rounds]`. Throws an `Error` that says what is allowed. */
export function readArguments(args: readonly string[]): BenchArguments {
  const comparison = args[0] === 'telemetry' ? 'telemetry' : 'raw';
  const [messages, rounds, ...rest] = comparison === 'telemetry' ? args.slice(1) : args;
  if (rest.length > 0) throw new Error(`expected [telemetry] [messages] [rounds], and ${rest[0]} came after`);
  const defaults = DEFAULTS[comparison];
  return {
    comparison,
    messages: whole(messages, defaults.messages),
    rounds: whole(rounds, defaults.rounds),
  };
}

function whole(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  const number = Number(text);
  if (Number.isInteger(number) && number >= 1) return number;
  throw new Error(`expected a whole number of at least 1, got ${JSON.stringify(text)}`);
}
