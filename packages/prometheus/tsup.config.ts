import { defineConfig } from 'tsup';
import base from '../../tsup.base.ts';

// With shims, `import.meta.url` is known in the build for require too: the client is looked for from there.
export default defineConfig({ ...base, entry: ['src/index.ts', 'src/prometheus-io.ts'], shims: true });
