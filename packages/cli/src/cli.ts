import { createInterface } from 'node:readline/promises';
import { main } from './main.ts';

// Whoever reads what is printed may have seen enough: `acemq dlq list orders | head`.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(process.exitCode ?? 0);
  });
}

async function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await terminal.question(question);
  } finally {
    terminal.close();
  }
}

const { env, stdout, stderr, stdin } = process;
const once = (event: 'SIGINT' | 'SIGTERM', listener: () => void): unknown => process.once(event, listener);

void main(process.argv.slice(2), { env, stdout, stderr, stdin, once, ask }).then((code) => {
  process.exitCode = code;
});
