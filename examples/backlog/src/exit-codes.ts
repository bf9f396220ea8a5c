/** The night went as it should: the alert fired, and the age turned. */
export const DONE = 0;
/** It did not. */
export const WRONG = 1;
/** Nothing was begun: Redis or the arguments could not be used. */
export const NOT_BEGUN = 2;
