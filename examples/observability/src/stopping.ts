/**
 * Aborted when somebody wants the program to end: Ctrl-C, a polite kill, or a reader of its output that has gone. Once, so
 * that a second Ctrl-C ends it at once.
 */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  process.stdout.on('error', stop);
  return controller.signal;
}
