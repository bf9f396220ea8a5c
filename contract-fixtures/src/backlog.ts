import { BACKLOG_METRICS } from '@acemq/observe';

/** The numbers of a backlog, as every library that measures one writes them. */
export function backlogFixtures(): object {
  return {
    generatedBy: 'acemq-typescript',
    contract:
      'The numbers of a backlog: names, kinds, units and labels. Constant labels may stand beside these. A gauge that nobody knows is NaN.',
    metrics: Object.fromEntries(
      BACKLOG_METRICS.map(({ name, kind, unit, labels, help }) => [name, { kind, unit, labels, help }]),
    ),
  };
}
