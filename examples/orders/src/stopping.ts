/**
 * Aborted when somebody wants the program to end: Ctrl-C, a polite kill, or a reader of its output that has gone
 * (`| head`). Once, so that a second Ctrl-C ends it at once.
 */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  // Each further write fails too, and without a listener that would end the process before it has tidied up.
  process.stdout.on('error', stop);
  return controller.signal;
}
