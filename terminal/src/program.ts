import { AceMQError, describeError, shown } from '@acemq/core';
import { didYouMean } from './nearest.ts';
import type { Surroundings } from './surroundings.ts';

/** The command cannot be carried out as it was given. */
export const USAGE = 2;

/** A command: what it says of itself, and what carries it out. */
export interface Command<Around extends Surroundings> {
  readonly help: string;
  readonly run: (args: readonly string[], around: Around) => number | Promise<number>;
}

/** A program of several commands. */
export interface Program<Around extends Surroundings> {
  readonly name: string;
  readonly help: string;
  /** By their names, which may be of several words: `dlq list`. */
  readonly commands: ReadonlyMap<string, Command<Around>>;
  /** The exit code of an error that a command threw; 2 by default. */
  readonly codeOf?: (error: unknown) => number;
}

const isHelp = (arg: string | undefined): boolean => arg === '--help' || arg === '-h';

/** Carries a command line out. Resolves to the exit code; never rejects. */
export async function carryOut<Around extends Surroundings>(
  program: Program<Around>,
  args: readonly string[],
  around: Around,
): Promise<number> {
  const [first] = args;
  if (first === undefined || isHelp(first) || first === 'help') {
    (first === undefined ? around.stderr : around.stdout).write(program.help);
    return first === undefined ? USAGE : 0;
  }
  const found = commandOf(program, args);
  if (found === undefined) {
    const known = [...program.commands.keys()];
    const given = known.some((name) => name.startsWith(`${first} `)) ? args.slice(0, 2).join(' ') : first;
    if (args.slice(1).some(isHelp) || isHelp(given.split(' ')[1])) {
      around.stdout.write(program.help);
      return 0;
    }
    around.stderr.write(
      `${program.name}: there is no command ${shown(given)}${suggestion(given, known)}\n\n${program.help}`,
    );
    return USAGE;
  }
  const { name, command, rest } = found;
  if (rest.some(isHelp)) {
    around.stdout.write(command.help);
    return 0;
  }
  try {
    return await command.run(rest, around);
  } catch (error) {
    around.stderr.write(`${program.name} ${name}: ${words(error)}\n`);
    return program.codeOf?.(error) ?? USAGE;
  }
}

function suggestion(given: string, known: readonly string[]): string {
  const words = given.includes(' ') ? known : new Set(known.map((name) => name.split(' ', 1)[0] as string));
  return didYouMean(given, [...words]);
}

function commandOf<Around extends Surroundings>(
  { commands }: Program<Around>,
  args: readonly string[],
): { name: string; command: Command<Around>; rest: readonly string[] } | undefined {
  for (const length of [2, 1]) {
    const name = args.slice(0, length).join(' ');
    const command = commands.get(name);
    if (command !== undefined) return { name, command, rest: args.slice(length) };
  }
  return undefined;
}

/** An error of this library explains itself; what is foreign is named too. */
function words(error: unknown): string {
  return error instanceof AceMQError ? error.message : describeError(error);
}
