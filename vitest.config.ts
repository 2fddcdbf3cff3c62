import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/**
 * Tests of letters in files that start Node.js, `npm run build`, and no server. They are slow tests, and also a
 * project of their own, for macOS and Windows: these sync directories and keep modes in other ways.
 */
const filesTests = ['test/dead-letters/{crash,file}.test.ts', 'test/dead-letters/hostile-files.slow.test.ts'];

/**
 * Tests that start other programs (redis-server, PostgreSQL, openssl, curl, a browser, a compiler, what `npm run build` has made), or
 * take long by themselves. All others are quick. One that starts a program and is not named here fails and says so:
 * test/support/no-programs.ts.
 */
const slowTests = [
  'test/cli/**/*.test.ts',
  'test/postgres/**/*.test.ts',
  'test/redis/**/*.test.ts',
  'test/{d1,sqlite}/**/*.test.ts',
  'test/bullmq/**/*.test.ts',
  'test/stored-forms/**/*.test.ts',
  'test/**/*.slow.test.ts',
  'test/dead-letters/{outage,parking-backlog}.test.ts',
  ...filesTests,
  'test/dedupe/memory-room.test.ts',
  'test/protocol/protocol.test.ts',
  'test/request/body-memory.test.ts',
  'test/sandbox/{browser,delivery,outcomes,page}.test.ts',
  'test/{examples,packaging,readme,root-export,two-builds}.test.ts',
];

/** Tests that install runtimes, tools and other people's packages from the npm registry, some 100 MB each. */
const matrixTests = ['test/matrix/*.test.ts', 'test/dynamodb/*.test.ts'];

export default defineConfig({
  resolve: {
    // Tests run the sources; what is packed is tested in test/packaging.test.ts.
    alias: [
      { find: /^posthorn$/, replacement: source('src/index.ts') },
      { find: /^posthorn\/(node|express|fetch|fastify|koa|lambda)$/, replacement: source('adapters/$1.ts') },
      { find: /^posthorn\/file$/, replacement: source('src/dead-letters/file.ts') },
      {
        find: /^posthorn\/(opentelemetry|prometheus|logger)$/,
        replacement: source('src/telemetry/$1.ts'),
      },
      {
        find: /^posthorn\/(postgres|sqlite|d1|dynamodb|redis|bullmq|client|sandbox|testing)$/,
        replacement: source('src/$1/index.ts'),
      },
    ],
  },
  test: {
    testTimeout: 20_000,
    // A second, the default, is short on a busy machine.
    expect: { poll: { timeout: 10_000 } },
    // Each file would load the package, zod and Express again. What a file replaces in its process it puts back.
    isolate: false,
    // What fails in silence is what these tests are about, so nothing is left to a default.
    dangerouslyIgnoreUnhandledErrors: false,
    allowOnly: false,
    projects: [
      {
        extends: true,
        test: {
          name: 'quick',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...slowTests, ...matrixTests],
          setupFiles: ['test/support/no-programs.ts'],
          // More than cores, of which two are usual: most tests wait for sockets and timers rather than compute.
          maxWorkers: 8,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'slow',
          include: slowTests,
          // A program starts slowly on a busy machine, and some tests start ten.
          // Fewer, because they share the processor with the programs. The longest are here, so they come first.
          maxWorkers: 4,
          sequence: { groupOrder: 0 },
          testTimeout: 60_000,
          hookTimeout: 60_000,
          setupFiles: ['test/support/leave-nothing.ts'],
          globalSetup: [
            'test/support/install-programs.ts',
            'test/sqlite/install-driver.ts',
            'test/support/build.ts',
            'test/postgres/setup.ts',
          ],
        },
      },
      {
        extends: true,
        test: {
          name: 'files',
          include: filesTests,
          maxWorkers: 4,
          sequence: { groupOrder: 0 },
          testTimeout: 60_000,
          hookTimeout: 60_000,
          setupFiles: ['test/support/leave-nothing.ts'],
          globalSetup: ['test/support/build.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'matrix',
          include: matrixTests,
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
          testTimeout: 300_000,
          hookTimeout: 600_000,
          setupFiles: ['test/support/leave-nothing.ts'],
          globalSetup: [
            'test/support/install-programs.ts',
            'test/dynamodb/install-emulator.ts',
            'test/support/build.ts',
            'test/postgres/setup.ts',
          ],
        },
      },
    ],
  },
});
