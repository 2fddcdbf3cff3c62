import { defineConfig } from 'vitest/config';
import main from '../../../vitest.config.ts';

/** For test/support/left-behind.storm.test.ts alone: runs tests that fail or hang on purpose. */
export default defineConfig({
  ...main,
  test: {
    include: ['test/support/unfinished/*.unfinished.ts'],
    setupFiles: ['test/support/leave-nothing.ts'],
    globalSetup: ['test/stores/postgres/setup.ts'],
    // Of the test that hangs.
    testTimeout: 600_000,
    hookTimeout: 20_000,
    isolate: false,
  },
});
