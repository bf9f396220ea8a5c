import { AsyncLocalStorage } from 'node:async_hooks';
import { type Context, context, ROOT_CONTEXT } from '@opentelemetry/api';
import { quietly } from './quietly.ts';

/** The context of the work at hand, where the application has installed no context manager to keep it. */
const carried = new AsyncLocalStorage<Context>();

/** The active context; without a context manager, the one that {@link within} was given. */
export function currentContext(): Context {
  const active = quietly(() => context.active()) ?? ROOT_CONTEXT;
  return active === ROOT_CONTEXT ? (carried.getStore() ?? active) : active;
}

/** Runs work with a context active, once, whatever the context manager does. */
export function within<T>(active: Context, work: () => T): T {
  let answer: { readonly value: T } | undefined;
  let failure: { readonly error: unknown } | undefined;
  quietly(() =>
    context.with(active, () => {
      const managed = quietly(() => context.active()) === active;
      try {
        answer = { value: managed ? work() : carried.run(active, work) };
      } catch (error) {
        failure = { error };
      }
    }),
  );
  const failed = failure as { readonly error: unknown } | undefined;
  if (failed !== undefined) throw failed.error;
  const done = answer as { readonly value: T } | undefined;
  return done === undefined ? carried.run(active, work) : done.value;
}
