/** What `/ready` answers where it is asked for its parts. */
interface Answer {
  readonly status: string;
  readonly detail: string;
  readonly parts?: Readonly<Record<string, unknown>>;
}

/** The answer of `/ready`, a line for each part. */
export function healthPage(body: string): string {
  const answer = JSON.parse(body) as Answer;
  const lines = Object.entries(answer.parts ?? {}).flatMap(([name, part]) => partLines(name, part as Answer));
  return [`  ${said(answer)}`, ...lines].join('\n');
}

function partLines(name: string, report: Answer): string[] {
  const facts = Object.entries(report.parts ?? {}).map(
    ([fact, value]) => `      ${fact.padEnd(16)}${JSON.stringify(value)}`,
  );
  return [`    ${name.padEnd(18)}${said(report)}`, ...facts];
}

function said({ status, detail }: Answer): string {
  return detail === '' ? status : `${status}: ${detail}`;
}
