import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readReport } from '../report.mjs';

const folder = mkdtempSync(join(tmpdir(), 'acemq-report-'));
afterAll(() => rmSync(folder, { recursive: true }));

function report(name: string, status: string, tests: Record<string, string>): ReturnType<typeof readReport> {
  const assertionResults = Object.entries(tests).map(([fullName, of]) => ({ fullName, status: of }));
  const file = join(folder, 'report.json');
  writeFileSync(
    file,
    JSON.stringify({ testResults: [{ name: join(folder, name), status, assertionResults }] }),
  );
  return readReport(file, folder);
}

test('tests are counted, and those that did not run are named', () => {
  const tests = { one: 'passed', two: 'failed', three: 'pending', four: 'todo', five: 'skipped' };
  expect(report('a.test.ts', 'failed', tests)).toEqual({
    passed: 1,
    failed: 1,
    skipped: ['a.test.ts: three', 'a.test.ts: four', 'a.test.ts: five'],
  });
});

test('a file that could not be loaded counts as one failure', () => {
  expect(report('a.test.ts', 'failed', {})).toEqual({ passed: 0, failed: 1, skipped: [] });
});

test('a file whose hook failed after its tests passed counts as one failure', () => {
  expect(report('a.test.ts', 'failed', { one: 'passed' })).toEqual({ passed: 1, failed: 1, skipped: [] });
});
