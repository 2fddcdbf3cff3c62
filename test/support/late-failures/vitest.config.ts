import { defineConfig } from 'vitest/config';
import main from '../../../vitest.config.ts';

/** For test/support/late-failures.program.test.ts alone: runs tests that leave failures behind on purpose. */
export default defineConfig({
  ...main,
  test: {
    ...main.test,
    projects: undefined,
    include: ['test/support/late-failures/*.late.ts'],
  },
});
