import { carryOut, type Surroundings } from '@acemq/terminal';
import { capacityCommand } from './capacity-command.ts';
import { CAPACITY_HELP, HELP, RULES_HELP, WATCH_HELP } from './help.ts';
import { rulesCommand } from './rules-command.ts';
import { watchCommand } from './watch-command.ts';

const PROGRAM = {
  name: 'acemq-backlog',
  help: HELP,
  commands: new Map([
    ['watch', { help: WATCH_HELP, run: watchCommand }],
    ['capacity', { help: CAPACITY_HELP, run: capacityCommand }],
    ['rules', { help: RULES_HELP, run: rulesCommand }],
  ]),
};

/** Carries a command line out. Resolves to the exit code; never rejects. */
export function main(args: readonly string[], around: Surroundings): Promise<number> {
  return carryOut(PROGRAM, args, around);
}
