import { readArguments, type SoakArguments } from './arguments.ts';
import { Director, type Result } from './director.ts';
import { type Check, verdictOf } from './verdict.ts';

/**
 * Publishers and consumers at work through faults of chance, on a RabbitMQ node of their own, and at the end
 * an account of every message by its number. Ends with 0 when everything held, 1 when something did not, 2
 * when it could not be tried.
 *
 * usage: node dist/soak.js [duration] [--seed N]     RABBITMQ_SERVER_PROGRAM says which server is started
 */
const print = (line: string): void => console.log(line);
const soak = argumentsOrExit();
const again = `npm run soak -- ${Math.round(soak.duration / 1000)}s --seed ${soak.seed}`;
print(`seed ${soak.seed}: ${again}\n`);

const director = new Director(soak, print);
let interrupted = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    interrupted = true;
    void director.close().finally(() => {
      director.forget();
      process.exit(130);
    });
  });
}
let code = 2;
try {
  const result = await director.run();
  const checks = verdictOf(result.findings);
  report(result, checks);
  code = checks.every(({ ok }) => ok) ? 0 : 1;
} catch (error) {
  // What an interrupt ends fails in the middle; the handler above goes on from there.
  if (interrupted) await new Promise(() => {});
  print(`\nthe run failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
}
await director.close();
if (code === 0) director.forget();
else print(`numbers and logs are in ${director.folder}; the same faults again: ${again}`);
process.exit(code);

function argumentsOrExit(): SoakArguments {
  try {
    return readArguments(process.argv.slice(2));
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exit(2);
  }
}

function report({ findings, faults }: Result, checks: readonly Check[]): void {
  const { sent, ended, uncertainArrived, duplicates } = findings.account;
  const late = findings.crew.reduce((sum, { farewell }) => sum + farewell.late, 0);
  const rows: readonly (readonly [string, string])[] = [
    ['faults', [...faults].map(([kind, count]) => `${count} ${kind}`).join(', ')],
    [
      'sent',
      Object.entries(sent)
        .map(([outcome, count]) => `${count} ${outcome}`)
        .join(', '),
    ],
    ['of the uncertain', `${uncertainArrived} arrived`],
    [
      'ended',
      Object.entries(ended)
        .map(([place, count]) => `${count} ${place}`)
        .join(', '),
    ],
    ['duplicates', `${duplicates}`],
    ['late settlements', `${late}`],
  ];
  print('');
  for (const [name, value] of rows) print(`${name.padEnd(18)}${value}`);
  print('');
  for (const { what, ok, detail } of checks)
    print(`${ok ? 'ok    ' : 'FAILED'}  ${what.padEnd(52)}${detail}`);
  print(
    `\n${checks.every(({ ok }) => ok) ? 'Everything held.' : 'Something did not hold.'} Seed ${soak.seed}.`,
  );
}
