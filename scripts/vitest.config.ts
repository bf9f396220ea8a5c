import { mergeConfig } from 'vitest/config';
import packageTests from '../vitest.base.ts';

export default mergeConfig(packageTests, { test: { name: 'workspace' } });
