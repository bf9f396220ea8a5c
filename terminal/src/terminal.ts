import type { Surroundings } from './surroundings.ts';

/** What a terminal can do. */
export interface Terminal {
  /** It can be drawn over. */
  readonly redraws: boolean;
  readonly colours: boolean;
  readonly width: number;
  readonly height: number;
}

/** Asked before each picture, since a window may be resized. */
export function terminalOf({ stdout, env }: Pick<Surroundings, 'stdout' | 'env'>): Terminal {
  const redraws = stdout.isTTY === true && env['TERM'] !== 'dumb';
  return {
    redraws,
    colours: redraws && !env['NO_COLOR'],
    width: (stdout.isTTY && stdout.columns) || 80,
    height: (stdout.isTTY && stdout.rows) || (redraws ? 24 : 40),
  };
}

const FIRST_LINE = '\u001b[H';
const CLEAR_TO_END_OF_LINE = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';
export const CLEAR_AND_HIDE_CURSOR = '\u001b[2J\u001b[?25l';
export const SHOW_CURSOR = '\u001b[?25h';

/** A picture over the one before. Each line is written and then cleared behind its end, so that nothing flickers. */
export function inPlace(picture: string): string {
  return `${FIRST_LINE}${picture.replaceAll('\n', `${CLEAR_TO_END_OF_LINE}\n`)}${CLEAR_BELOW}`;
}

/** How a text is written. */
export type Colour = 'red' | 'yellow' | 'cyan' | 'dim' | 'bold';

const CODES: Readonly<Record<Colour, number>> = { bold: 1, dim: 2, red: 31, yellow: 33, cyan: 36 };

/** A colour for a text where there are colours. */
export function paint(text: string, colour: Colour | undefined, colours: boolean): string {
  return colours && colour !== undefined ? `\u001b[${CODES[colour]}m${text}\u001b[0m` : text;
}
