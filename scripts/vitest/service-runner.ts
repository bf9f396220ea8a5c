import type { RunnerTestFile } from 'vitest';
import { inject, TestRunner } from 'vitest';
import { modules, programs, services } from '../services.mjs';

/** Skips, by name and without a line in them, the test files that need a service, a program or a module which is not there. */
export default class ServiceRunner extends TestRunner {
  onCollected(files: RunnerTestFile[]): void {
    const missing = inject('missingServices');
    for (const file of files) {
      const needs = [...services, ...programs, ...modules].filter((one) => one.files.test(file.filepath));
      if (needs.some(({ name }) => missing.includes(name))) skip(file);
    }
  }
}

function skip(task: RunnerTestFile | RunnerTestFile['tasks'][number]): void {
  task.mode = 'skip';
  if ('tasks' in task) task.tasks.forEach(skip);
}
