import type { TestProject } from 'vitest/node';
import { findServices } from '../services.mjs';

declare module 'vitest' {
  interface ProvidedContext {
    /** The services that were not found, by name. */
    missingServices: string[];
  }
}

/**
 * Global set-up: finds the services once for all projects, before the workers start. They inherit the variables it sets.
 * Without a service its tests are skipped; with `CI=true` that is a failure, since a build that covers less must not pass.
 */
export default async function setupServices(project: TestProject): Promise<() => Promise<void>> {
  const { missing, stop } = await findServices();
  const names = missing.map((service) => service.name);
  if (names.length > 0 && process.env['CI'] === 'true') {
    throw new Error(`CI=true, and these services do not answer: ${names.join(', ')}.`);
  }
  project.provide('missingServices', names);
  return stop;
}
