// A program and its commands.
export { carryOut, USAGE } from './program.ts';
export type { Command, Program } from './program.ts';
export type { Surroundings } from './surroundings.ts';

// What is given on the command line.
export { address } from './address.ts';
export { flags, flagsAndNames } from './flags.ts';
export { given, wholeNumber } from './numbers.ts';

// What is printed.
export { columns } from './columns.ts';
export { count, time } from './numbers.ts';
export { plainText } from './plain-text.ts';
export {
  CLEAR_AND_HIDE_CURSOR,
  type Colour,
  inPlace,
  paint,
  SHOW_CURSOR,
  type Terminal,
  terminalOf,
} from './terminal.ts';
