import { AceMQError, describeError, shown } from '@acemq/core';
import { capacityCommand } from './capacity-command.ts';
import { UNREADABLE } from './exit-codes.ts';
import { CAPACITY_HELP, HELP, RULES_HELP, WATCH_HELP } from './help.ts';
import { didYouMean } from './nearest.ts';
import { rulesCommand } from './rules-command.ts';
import { watchCommand } from './watch-command.ts';

/** What of a process the command uses. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: {
    write(text: string): unknown;
    readonly isTTY?: boolean;
    readonly columns?: number;
    readonly rows?: number;
  };
  readonly stderr: { write(text: string): unknown };
  once(event: 'SIGINT' | 'SIGTERM', listener: () => void): unknown;
}

/** A command: what it says of itself, and what carries it out. */
interface Command {
  readonly help: string;
  readonly run: (args: readonly string[], around: Surroundings) => number | Promise<number>;
}

const COMMANDS: ReadonlyMap<string, Command> = new Map([
  ['watch', { help: WATCH_HELP, run: watchCommand }],
  ['capacity', { help: CAPACITY_HELP, run: capacityCommand }],
  ['rules', { help: RULES_HELP, run: rulesCommand }],
]);

const isHelp = (arg: string | undefined): boolean => arg === '--help' || arg === '-h';

/** Carries a command line out. Resolves to the exit code; never rejects. */
export async function main(args: readonly string[], around: Surroundings): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined || isHelp(name) || name === 'help') {
    (name === undefined ? around.stderr : around.stdout).write(HELP);
    return name === undefined ? UNREADABLE : 0;
  }
  const command = COMMANDS.get(name);
  if (command === undefined) {
    around.stderr.write(
      `acemq-backlog: there is no command ${shown(name)}${didYouMean(name, [...COMMANDS.keys()])}\n\n${HELP}`,
    );
    return UNREADABLE;
  }
  if (rest.some(isHelp)) {
    around.stdout.write(command.help);
    return 0;
  }
  try {
    return await command.run(rest, around);
  } catch (error) {
    around.stderr.write(`acemq-backlog ${name}: ${words(error)}\n`);
    return UNREADABLE;
  }
}

/** An error of this library explains itself; what is foreign is named too. */
function words(error: unknown): string {
  return error instanceof AceMQError ? error.message : describeError(error);
}
