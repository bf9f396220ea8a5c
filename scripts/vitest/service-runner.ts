import type { RunnerTestFile } from 'vitest';
import { inject, TestRunner } from 'vitest';
import { services } from '../services.mjs';

/** Skips, by name and without a line in them, the test files that need a service which is not there. */
export default class ServiceRunner extends TestRunner {
  onCollected(files: RunnerTestFile[]): void {
    const missing = inject('missingServices');
    for (const file of files) {
      const needs = services.find((service) => service.files.test(file.filepath));
      if (needs !== undefined && missing.includes(needs.name)) skip(file);
    }
  }
}

function skip(task: RunnerTestFile | RunnerTestFile['tasks'][number]): void {
  task.mode = 'skip';
  if ('tasks' in task) task.tasks.forEach(skip);
}
