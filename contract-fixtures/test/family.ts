import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, it } from 'vitest';

/** Where the family's own files are: given, or beside the repository. */
const given = process.env['ACEMQ_FAMILY_FIXTURES'];
const folder = given ?? fileURLToPath(new URL('../../../shared/family-fixtures', import.meta.url));

/**
 * Describes one of the family's files, where the machine has it. Without the folder one skipped test stands in for its
 * cases, so that a run says what it did not cover; a folder that was given and lacks the file is a failure.
 */
export function describeFamily<File = unknown>(name: string, cases: (file: File) => void): void {
  describe(`${name} of the family`, () => {
    const path = join(folder, name);
    if (given !== undefined || existsSync(path)) {
      cases(JSON.parse(readFileSync(path, 'utf8')) as File);
      return;
    }
    it.skipIf(true)('is not on this machine; ACEMQ_FAMILY_FIXTURES may name its folder', () => {});
  });
}
