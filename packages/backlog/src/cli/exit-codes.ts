/** All is well. */
export const HEALTHY = 0;
/** The oldest job of a kind is older than the limit. */
export const TOO_OLD = 1;
/** The backlog cannot be read, or the command cannot be carried out as it was given. */
export const UNREADABLE = 2;
