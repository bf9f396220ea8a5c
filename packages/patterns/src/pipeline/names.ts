import { ConfigurationError, DEAD_LETTER_EXCHANGE, RETRY_EXCHANGE, shown } from '@acemq/core';

const FORM = /^[A-Za-z0-9][A-Za-z0-9.-]*$/;

const TAKEN: readonly string[] = [DEAD_LETTER_EXCHANGE, RETRY_EXCHANGE];

/**
 * The name of a pipeline, which its exchange has too.
 *
 * @throws `ConfigurationError`
 */
export function checkPipelineName(name: unknown): string {
  const checked = checkForm(name, 'the name of a pipeline');
  if (checked.startsWith('amq.')) {
    throw new ConfigurationError(
      `the name of a pipeline must not begin with amq., which the broker keeps for itself, as ${shown(name)} does`,
    );
  }
  if (TAKEN.includes(checked)) {
    throw new ConfigurationError(
      `the name of a pipeline must not be ${shown(name)}, the exchange through which retries and dead letters go`,
    );
  }
  return checked;
}

/**
 * The names of a pipeline's steps, in order.
 *
 * @throws `ConfigurationError`
 */
export function checkSteps<Step extends string>(pipeline: string, steps: readonly Step[]): readonly Step[] {
  if (!Array.isArray(steps) || steps.length === 0) {
    const given = Array.isArray(steps) ? 'an empty list' : shown(steps);
    throw new ConfigurationError(
      `the pipeline ${shown(pipeline)} must have a list of at least one step, not ${given}`,
    );
  }
  const seen = new Set<string>();
  for (const step of steps) {
    checkForm(step, `a step of the pipeline ${shown(pipeline)}`);
    if (seen.has(step)) {
      throw new ConfigurationError(`the pipeline ${shown(pipeline)} has the step ${shown(step)} twice`);
    }
    seen.add(step);
  }
  return Object.freeze([...steps]);
}

function checkForm(name: unknown, what: string): string {
  if (typeof name === 'string' && FORM.test(name)) return name;
  throw new ConfigurationError(
    `${what} must have letters, digits, dots and dashes only and begin with a letter or a digit, and is ${shown(name)}`,
  );
}
