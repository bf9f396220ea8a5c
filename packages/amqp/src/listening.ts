/**
 * Tells a listener of the user's, whose failure goes to `failed` and no further. An `async` function by mistake is
 * covered: what it rejects with must not end the process.
 */
export function tell<T>(listener: (told: T) => void, what: T, failed: (error: unknown) => void): void {
  try {
    const told: unknown = listener(what);
    if (told instanceof Promise) told.catch(failed);
  } catch (error) {
    failed(error);
  }
}
