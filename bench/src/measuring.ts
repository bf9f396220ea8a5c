import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Lets a process of its own do a task, and resolves with what it measured. */
export function measured<Measurement>(task: object): Promise<Measurement> {
  return new Promise((resolve, reject) => {
    const worker = fork(fileURLToPath(new URL('./worker.js', import.meta.url)), [JSON.stringify(task)]);
    let measurement: Measurement | undefined;
    worker.once('message', (message) => {
      measurement = message as Measurement;
    });
    worker.once('error', reject);
    worker.once('exit', (code) => {
      if (measurement === undefined)
        reject(new Error(`${JSON.stringify(task)} ended with exit code ${code}`));
      else resolve(measurement);
    });
  });
}
