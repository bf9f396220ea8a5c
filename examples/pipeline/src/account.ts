/** What became of the runs, by their ids. */
export interface Account {
  readonly begun: ReadonlySet<string>;
  readonly completed: ReadonlySet<string>;
  readonly ended: ReadonlySet<string>;
  /** The reason by the id. */
  readonly dead: ReadonlyMap<string, string>;
  /** Deliveries of the second step that were tried again. */
  readonly retried: number;
}

/** What does not add up; empty where every run has one fate. */
export function faultsOf({ begun, completed, ended, dead }: Account): string[] {
  const fates = [...completed, ...ended, ...dead.keys()];
  const missing = [...begun].filter((id) => !fates.includes(id)).length;
  const foreign = fates.filter((id) => !begun.has(id)).length;
  const twice = fates.length - new Set(fates).size;
  return [
    ...(missing > 0 ? [`${missing} runs have come to no end`] : []),
    ...(foreign > 0 ? [`${foreign} runs have ended that were never begun`] : []),
    ...(twice > 0 ? [`${twice} runs have come to two ends`] : []),
  ];
}

/** The account as it is printed. */
export function accountTable(account: Account): string {
  const { begun, completed, ended, dead, retried } = account;
  const reasons = new Map<string, number>();
  for (const reason of dead.values()) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  const lines: (readonly [string, number, string])[] = [
    ['begun', begun.size, 'sent to the first step, and confirmed'],
    ['completed', completed.size, 'stored, at the last step'],
    ['ended early', ended.size, 'declined, at the first step'],
    ['dead letters', dead.size, 'at the second step, after their retries'],
    ['accounted for', completed.size + ended.size + dead.size, ''],
    ['retried', retried, 'deliveries of the second step'],
  ];
  const rows = lines.map(([what, count, why]) =>
    `  ${what.padEnd(14)}${String(count).padStart(6)}  ${why}`.trimEnd(),
  );
  const why = [...reasons].map(([reason, count]) => `  ${count} x ${reason}`);
  return `${rows.join('\n')}\n\nThe reason on the dead letters\n${why.join('\n')}\n`;
}
