import { spawn } from 'node:child_process';
import { environment, root } from './tools.mjs';

/**
 * @typedef {object} CommandOptions
 * @property {string} [cwd] the root of the workspace by default
 * @property {NodeJS.ProcessEnv} [env] added to the environment
 * @property {boolean} [stream] output is shown as it comes, and not collected
 */

/**
 * Runs a program to its end. It never rejects: a program that cannot be started has ended with code 127.
 * @param {string} program
 * @param {readonly string[]} args
 * @param {CommandOptions} [options]
 * @returns {Promise<{ code: number, output: string }>} `output` is both streams in the order in which they came
 */
export function run(program, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: options.cwd ?? root,
      env: { ...environment, ...options.env },
      stdio: options.stream === true ? 'inherit' : ['ignore', 'pipe', 'pipe'],
      shell: process.platform === 'win32',
    });
    // A terminal sends its interrupt to both: the child ends as it likes, and this waits for that.
    const wait = () => undefined;
    const pass = () => void child.kill('SIGTERM');
    process.on('SIGINT', wait).on('SIGTERM', pass);
    let output = '';
    /** @param {Buffer} chunk */
    const collect = (chunk) => {
      output += chunk.toString();
    };
    child.stdout?.on('data', collect);
    child.stderr?.on('data', collect);
    /** @param {number} code */
    const finish = (code) => {
      process.off('SIGINT', wait).off('SIGTERM', pass);
      resolve({ code, output });
    };
    child.once('error', (error) => {
      output += `${error.message}\n`;
      finish(127);
    });
    // A program that died of a signal has no code; 1 is as good as any for "it did not end well".
    child.once('close', (code) => finish(code ?? 1));
  });
}
