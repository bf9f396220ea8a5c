import { existsSync } from 'node:fs';
import type { TestProject } from 'vitest/node';
import { findPrograms, findServices, missingModules } from '../services.mjs';

declare module 'vitest' {
  interface ProvidedContext {
    /** The services, programs and modules that were not found, by name. */
    missingServices: string[];
  }
}

/**
 * Global set-up: finds the services once for all projects, before the workers start. They inherit the
 * variables it sets. Without a service its tests are skipped; with `CI=true` that is a failure, since a build
 * that covers less must not pass. A program that is missing is one only on Debian, where the CI script can
 * install it. A module that may fail to build is none anywhere.
 */
export default async function setupServices(project: TestProject): Promise<() => Promise<void>> {
  const absent = findPrograms().map((program) => program.name);
  const { missing, stop } = await findServices();
  const names = missing.map((service) => service.name);
  if (process.env['CI'] === 'true') {
    if (names.length > 0) throw new Error(`CI=true, and these services do not answer: ${names.join(', ')}.`);
    if (absent.length > 0 && existsSync('/etc/debian_version')) {
      throw new Error(`CI=true, and these programs are not installed: ${absent.join(', ')}.`);
    }
  }
  const unbuilt = missingModules().map((module) => module.name);
  project.provide('missingServices', [...names, ...absent, ...unbuilt]);
  return stop;
}
