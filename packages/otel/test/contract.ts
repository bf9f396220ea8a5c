import { readFileSync } from 'node:fs';
import type { AttributeMapping, Conventions, SpanDefinition, SpanEventDefinition } from '../src/index.ts';

/** The part of the contract that speaks of tracing. */
export interface TracingContract {
  readonly scope: string;
  readonly system: string;
  readonly headers: readonly string[];
  readonly spans: readonly SpanDefinition[];
  readonly errorOutcomes: readonly string[];
  readonly settlements: readonly {
    readonly when: string;
    readonly outcome: string;
    readonly events: readonly string[];
    readonly error: boolean;
  }[];
  readonly events: readonly SpanEventDefinition[];
  readonly attributesOfTheCurrentSpan: readonly string[];
  readonly conventions: readonly AttributeMapping[];
  readonly operationTypes: Readonly<Record<string, string>>;
  readonly errorType: string;
}

/** As it is committed. */
export const CONTRACT: TracingContract = (
  JSON.parse(readFileSync(new URL('../../../contract-fixtures/telemetry.json', import.meta.url), 'utf8')) as {
    readonly tracing: TracingContract;
  }
).tracing;

/** The names that the attributes of the family have under a convention, sorted. */
export function namesUnder(conventions: Conventions, family: readonly string[]): string[] {
  const theirs = family.flatMap(
    (name) => CONTRACT.conventions.find(({ acemq }) => acemq === name)?.otel ?? [name],
  );
  const names = { acemq: family, otel: theirs, both: [...family, ...theirs] }[conventions];
  return [...new Set(names)].sort();
}

/** The definition of the span whose name ends so. */
export function definitionOf(ending: string): SpanDefinition {
  const found = CONTRACT.spans.find(({ name }) => name.endsWith(ending));
  if (found === undefined) throw new Error(`the contract has no span ${ending}`);
  return found;
}
