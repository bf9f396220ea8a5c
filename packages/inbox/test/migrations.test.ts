import { readMigrations } from '@acemq/sql';
import { expect, it } from 'vitest';

// Databases out there have these. What comes later is another file.
it.each([
  ['postgres', ['21302e3f680cf917']],
  ['mysql', ['45169490758c2c23']],
  ['sqlite', ['a8e0078f7eb28e19']],
])('the migrations for %s are those that were released', async (database, checksums) => {
  const files = await readMigrations(new URL(`../sql/${database}/`, import.meta.url));
  expect(files.map(({ checksum }) => checksum.slice(0, 16))).toEqual(checksums);
});
