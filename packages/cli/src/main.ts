import { AceMQError } from '@acemq/core';
import { carryOut, type Surroundings as TerminalSurroundings, USAGE } from '@acemq/terminal';
import { BROKER } from './exit-codes.ts';
import { HELP, LIST_HELP, PURGE_HELP, REPLAY_HELP, SHOW_HELP } from './help.ts';
import { listCommand } from './list-command.ts';
import { purgeCommand } from './purge-command.ts';
import { replayCommand } from './replay-command.ts';
import { showCommand } from './show-command.ts';
import { VERSION } from './version.ts';

/** What of a process the program uses. */
export interface Surroundings extends TerminalSurroundings {
  readonly stdin: { readonly isTTY?: boolean };
  /** Asks on the terminal. Resolves to what was typed. */
  ask?(question: string): Promise<string>;
}

const REPLAY = { help: REPLAY_HELP, run: replayCommand };

const PROGRAM = {
  name: 'acemq',
  help: HELP,
  commands: new Map([
    ['dlq list', { help: LIST_HELP, run: listCommand }],
    ['dlq show', { help: SHOW_HELP, run: showCommand }],
    ['dlq replay', REPLAY],
    ['dlq purge', { help: PURGE_HELP, run: purgeCommand }],
    ['replay', REPLAY],
  ]),
  codeOf: (error: unknown): number =>
    error instanceof AceMQError && error.code !== 'ACEMQ_CONFIGURATION' ? BROKER : USAGE,
};

/** Carries a command line out. Resolves to the exit code; never rejects. */
export async function main(args: readonly string[], around: Surroundings): Promise<number> {
  if (args[0] === '--version') {
    around.stdout.write(`acemq ${VERSION}\n`);
    return 0;
  }
  return carryOut(PROGRAM, args, around);
}
