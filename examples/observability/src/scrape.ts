/** One line of a scrape. */
export interface ScrapedSample {
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The samples of a body in the Prometheus text format. */
export function samplesOf(body: string): readonly ScrapedSample[] {
  return body.split('\n').flatMap((line) => {
    const [, metric, block = '', value] = /^(\w+)(?:{(.*)})? (\S+)$/.exec(line) ?? [];
    if (metric === undefined) return [];
    const pairs = block.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g);
    const labels = Object.fromEntries([...pairs].map(([, name = '', text = '']) => [name, text]));
    return [{ metric, labels, value: Number(value) }];
  });
}

/** What a metric comes to, over all its label sets that have these labels. */
export function sumOf(
  samples: readonly ScrapedSample[],
  metric: string,
  labels: Readonly<Record<string, string>> = {},
): number {
  return samples
    .filter((one) => one.metric === metric)
    .filter((one) => Object.entries(labels).every(([name, value]) => one.labels[name] === value))
    .reduce((sum, { value }) => sum + value, 0);
}
