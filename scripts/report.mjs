import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

/**
 * Counts a JSON report of vitest.
 * @param {string} file
 * @param {string} root what file names are given from
 * @returns {{ passed: number, failed: number, skipped: string[] }} `skipped` names each test that did not run
 */
export function readReport(file, root) {
  /** @type {{ testResults: { name: string, status: string, assertionResults: { status: string, fullName: string }[] }[] }} */
  const report = JSON.parse(readFileSync(file, 'utf8'));
  const count = { passed: 0, failed: 0, skipped: /** @type {string[]} */ ([]) };
  for (const { name, status, assertionResults } of report.testResults) {
    const failedBefore = count.failed;
    for (const test of assertionResults) {
      if (test.status === 'passed') count.passed += 1;
      else if (test.status === 'failed') count.failed += 1;
      else count.skipped.push(`${relative(root, name)}: ${test.fullName}`);
    }
    // A file that could not be loaded, or whose hooks failed, has failed without any test of it having done so.
    if (status === 'failed' && count.failed === failedBefore) count.failed += 1;
  }
  return count;
}
