import { defineConfig } from 'tsup';

export default defineConfig({
  entry: {
    main: 'src/main.ts',
    worker: 'src/worker.ts',
    outbox: 'src/outbox.ts',
    backlog: 'src/backlog.ts',
    'request-reply': 'src/request-reply.ts',
    'request-reply-worker': 'src/request-reply-worker.ts',
    soak: 'src/soak/main.ts',
    'soak-publisher': 'src/soak/publisher.ts',
    'soak-consumer': 'src/soak/consumer.ts',
  },
  format: ['esm'],
  target: 'node20.19',
  clean: true,
});
