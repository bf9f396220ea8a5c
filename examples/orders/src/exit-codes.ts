/** All went as it should. */
export const DONE = 0;
/** It was done, and the result is wrong: figures that do not add up, a message that came too early or not at all. */
export const WRONG = 1;
/** Nothing was begun: the input or the broker could not be used. */
export const NOT_BEGUN = 2;
/** It was ended early. */
export const STOPPED = 130;
