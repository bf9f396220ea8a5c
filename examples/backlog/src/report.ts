import type { Panel } from './night.ts';

export const HEADING = 'minute  depth    age  a second  workers\n';

/** One reading, as a line. */
export function line({ time, depth, oldestAge, throughput, workers, fires, diagnosis }: Panel): string {
  const cells = [
    clock(time).padStart(6),
    String(depth).padStart(5),
    `${Math.round(oldestAge)}s`.padStart(5),
    throughput.toFixed(1).padStart(8),
    String(workers).padStart(7),
  ];
  const said = diagnosis.shape === 'healthy' || diagnosis.shape === 'unclear' ? '' : `  ${diagnosis.shape}`;
  return `${cells.join('  ')}${fires ? '  JobsBacklogAge' : ''}${said}\n`;
}

/** Whether the alert fired, and the age turned after it. */
export function outcome(panels: readonly Panel[]): { readonly text: string; readonly isRight: boolean } {
  const fired = panels.find(({ fires }) => fires);
  const last = panels.at(-1);
  if (fired === undefined || last === undefined) return { text: 'The alert did not fire.\n', isRight: false };
  const oldest = panels.reduce((a, b) => (b.oldestAge > a.oldestAge ? b : a));
  const turned = last.completed >= 3000 && oldest.time < last.time && last.oldestAge < 60;
  return {
    text:
      `The alert fired at ${clock(fired.time)}, and two workers were started. ` +
      `The oldest job was ${clock(oldest.oldestAge)} old at ${clock(oldest.time)}; ` +
      `all ${last.completed} were done at ${clock(last.time)}.\n`,
    isRight: turned,
  };
}

function clock(seconds: number): string {
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}
