/** It is done. */
export const DONE = 0;
/** There was nothing that matched, or it came to its end before all was done. */
export const LEFT = 1;
/** The broker cannot be reached, or refused. */
export const BROKER = 3;
/** Interrupted: what was held is put back. */
export const INTERRUPTED = 130;
