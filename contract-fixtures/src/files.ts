import { backlogFixtures } from './backlog.ts';
import { contractFixtures } from './contract.ts';
import { envelopeFixtures } from './envelopes.ts';
import { headerFixtures } from './headers.ts';
import { patternsFixtures } from './patterns.ts';
import { telemetryFixtures } from './telemetry.ts';

/** A file of this folder, and its schema in `schema/`. */
export interface FixtureFile {
  readonly name: string;
  readonly schema: string;
  /** Calls the library. */
  readonly generate: () => object;
}

/** Every file that is generated. */
export const FIXTURE_FILES: readonly FixtureFile[] = [
  { name: 'backlog.json', schema: 'backlog.schema.json', generate: backlogFixtures },
  { name: 'contract-fixtures.json', schema: 'contract-fixtures.schema.json', generate: contractFixtures },
  { name: 'envelope-fixtures.json', schema: 'envelope-fixtures.schema.json', generate: envelopeFixtures },
  { name: 'headers.json', schema: 'headers.schema.json', generate: headerFixtures },
  { name: 'patterns.json', schema: 'patterns.schema.json', generate: patternsFixtures },
  { name: 'telemetry.json', schema: 'telemetry.schema.json', generate: telemetryFixtures },
];

/** The text of a file: JSON with two spaces, and a line feed at the end. */
export function textOf(fixtures: object): string {
  return `${JSON.stringify(fixtures, null, 2)}\n`;
}
