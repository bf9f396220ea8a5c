import { defineConfig } from 'tsup';
import base from '../../tsup.base.ts';

export default defineConfig({
  ...base,
  entry: {
    request: 'src/request/index.ts',
    pipeline: 'src/pipeline/index.ts',
    replay: 'src/replay/index.ts',
  },
});
