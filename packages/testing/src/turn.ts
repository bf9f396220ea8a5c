// Taken once, when the module loads: a test that replaces the global timers (vitest's fake timers replace
// `setImmediate` too) must not stop the broker.
const immediate = setImmediate;
const interval = setInterval;
const stopInterval = clearInterval;

/** Longest interval that Node takes. It does nothing but keep the process alive. */
const LONG = 2 ** 31 - 1;

/** Calls `work` in the next turn of the event loop. */
export function soon(work: () => void): void {
  immediate(work);
}

/** Resolves in the next turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    immediate(resolve);
  });
}

/** Keeps the process alive, as an open socket does, until what it returns is called. */
export function keepAlive(): () => void {
  const handle = interval(() => {}, LONG);
  return () => stopInterval(handle);
}
