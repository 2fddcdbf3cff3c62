import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  resolve: {
    // Tests run the sources; what is packed is tested in test/packaging.test.ts.
    alias: [
      { find: /^posthorn$/, replacement: source('src/index.ts') },
      { find: /^posthorn\/(node|express)$/, replacement: source('adapters/$1.ts') },
      { find: /^posthorn\/file$/, replacement: source('src/dead-letters/file.ts') },
      { find: /^posthorn\/(redis|client|sandbox|testing)$/, replacement: source('src/$1/index.ts') },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/build.ts', 'test/redis/setup.ts'],
    testTimeout: 20_000,
    // What fails in silence is what these tests are about, so nothing is left to a default.
    dangerouslyIgnoreUnhandledErrors: false,
    allowOnly: false,
  },
});
