import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

interface Panel {
  readonly title?: string;
  readonly panels?: readonly Panel[];
  readonly targets?: readonly { readonly expr?: string }[];
}

/** One expression of the dashboard, ready to be asked. */
export interface Expression {
  readonly title: string;
  readonly text: string;
}

const file = fileURLToPath(new URL('../../../docs/dashboards/acemq.json', import.meta.url));

/** Every expression of the dashboard, with everything selected and short windows. */
export function dashboardExpressions(): readonly Expression[] {
  const { panels } = JSON.parse(readFileSync(file, 'utf8')) as { readonly panels: readonly Panel[] };
  return panels.flatMap(expressionsOf);
}

function expressionsOf(panel: Panel): readonly Expression[] {
  const own = (panel.targets ?? []).flatMap(({ expr }) =>
    expr === undefined ? [] : [{ title: panel.title ?? '', text: filledIn(expr) }],
  );
  return [...own, ...(panel.panels ?? []).flatMap(expressionsOf)];
}

function filledIn(expression: string): string {
  return expression
    .replaceAll(/\$(?:__rate_interval|__range)\b/g, '30s')
    .replaceAll(/\$(?:namespace|job|queue)\b/g, '.*');
}
