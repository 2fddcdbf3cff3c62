import { defineConfig } from 'vitest/config';
import base from '../../vitest.config.ts';

/** For `npm run stored-forms`, which writes what a version stores: see CONTRIBUTING.md. */
export default defineConfig({
  resolve: base.resolve,
  test: {
    include: ['test/stored-forms/write-version.ts'],
    testTimeout: 300_000,
    setupFiles: ['test/support/leave-nothing.ts'],
    globalSetup: ['test/support/build.ts', 'test/stores/postgres/setup.ts'],
  },
});
