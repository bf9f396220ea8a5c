/** One series of an answer, with its newest value. */
export interface Sample {
  /** `__name__` included, where the expression keeps it. */
  readonly labels: Readonly<Record<string, string>>;
  /** May be `NaN` or infinite. */
  readonly value: number;
}

type Pair = readonly [time: number, value: string];
interface Answer {
  readonly status: string;
  readonly error?: string;
  readonly data?: {
    readonly resultType: string;
    readonly result:
      | Pair
      | readonly { readonly metric: Readonly<Record<string, string>>; readonly value: Pair }[];
  };
}

/**
 * Asks a server for the present value of an expression: an instant vector, or a scalar as one sample without
 * labels.
 *
 * @throws Error with the server's words when it refuses the expression.
 */
export async function query(url: string, expression: string): Promise<readonly Sample[]> {
  const response = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(expression)}`);
  const answer = (await response.json()) as Answer;
  if (answer.status !== 'success' || answer.data === undefined) {
    throw new Error(`Prometheus refused ${expression}: ${answer.error ?? response.statusText}`);
  }
  const { result, resultType } = answer.data;
  if (resultType === 'scalar') return [{ labels: {}, value: numberIn(result as Pair) }];
  if (resultType !== 'vector') throw new Error(`${expression} is a ${resultType}, not an instant vector`);
  return (result as Exclude<typeof result, Pair>).map(({ metric, value }) => ({
    labels: metric,
    value: numberIn(value),
  }));
}

/** As Prometheus spells numbers: `+Inf` and `-Inf` are its own. */
function numberIn([, text]: Pair): number {
  return Number(text.replace('Inf', 'Infinity'));
}
