import { fileURLToPath } from 'node:url';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { stores } from './src/stores/list.ts';
import LongestFirst from './test/support/longest-first.ts';

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/**
 * The layers of tests, by the end of a file's name. CONTRIBUTING.md says what belongs into which, how long each
 * takes and when to run it.
 */
const layers = {
  /** Starts no other program: test/support/no-programs.ts. */
  quick: { include: ['test/**/*.test.ts'], exclude: ['test/**/*.{program,storm,matrix}.test.ts'] },
  /** Everything works, once, for real: one file of each server, of the browser, of the package and its commands. */
  first: { include: ['test/**/*.first.program.test.ts'] },
  /** Starts a server, a browser, a compiler, the built package or its command. */
  program: { include: ['test/**/*.program.test.ts'], exclude: ['test/**/*.first.program.test.ts'] },
  /** Faults that take seconds, storms, explorations, long runs. */
  storm: { include: ['test/**/*.storm.test.ts'] },
  /** Runtimes, versions, other people's packages: downloads from the npm registry. */
  matrix: { include: ['test/**/*.matrix.test.ts'] },
  /** Those that start Node.js alone, for macOS and Windows: these sync directories and keep modes in other ways. */
  files: { include: ['test/stores/file/*.program.test.ts'] },
};

/** A project of tests that start programs. They have fewer workers, because they share the processor with these. */
const programs = (
  name: 'first' | 'program',
  groupOrder: number,
  ...globalSetup: readonly string[]
): TestProjectInlineConfiguration => ({
  extends: true,
  test: {
    name,
    ...layers[name],
    // With four, npm takes longer than a hook may to install the package on a slow machine.
    maxWorkers: name === 'first' ? 3 : 4,
    sequence: { groupOrder },
    setupFiles: ['test/support/leave-nothing.ts', 'test/support/costs/count.ts'],
    globalSetup: [
      'test/support/install-programs.ts',
      'test/support/build.ts',
      'test/stores/postgres/setup.ts',
      ...globalSetup,
    ],
  },
});

export default defineConfig({
  resolve: {
    // Tests run the sources; what is packed is tested in test/package/packaging.program.test.ts.
    alias: [
      { find: /^posthorn$/, replacement: source('src/index.ts') },
      { find: /^posthorn\/(node|express|fetch|fastify|koa|lambda)$/, replacement: source('adapters/$1.ts') },
      { find: /^posthorn\/nestjs$/, replacement: source('src/nestjs/index.ts') },
      { find: /^posthorn\/operator$/, replacement: source('src/operator/index.ts') },
      { find: /^posthorn\/providers$/, replacement: source('src/providers/index.ts') },
      { find: /^posthorn\/file$/, replacement: source('src/stores/file/dead-letters.ts') },
      {
        find: /^posthorn\/(opentelemetry|prometheus|logger)$/,
        replacement: source('src/observers/$1/index.ts'),
      },
      {
        find: new RegExp(`^posthorn/(${stores.map(({ name }) => name).join('|')})$`),
        replacement: source('src/stores/$1/index.ts'),
      },
      { find: /^posthorn\/bullmq$/, replacement: source('src/queues/bullmq/index.ts') },
      { find: /^posthorn\/(client|sandbox)$/, replacement: source('src/service/$1/index.ts') },
      { find: /^posthorn\/testing$/, replacement: source('src/testing/index.ts') },
      // These know the test that began them: test/support/leave-none-pending.ts. They import the real ones by a
      // path that has src in it.
      { find: /^\.(?!.*\/src\/).*\/timer\.ts$/, replacement: source('test/support/registered-timer.ts') },
      {
        find: /^\.(?!.*\/src\/).*\/timing\/unref-timeout\.ts$/,
        replacement: source('test/support/registered-unref-timeout.ts'),
      },
    ],
  },
  test: {
    // A test that hangs ends. No machine is so busy that another one takes as long.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // A second, the default, is short on a busy machine.
    expect: { poll: { timeout: 60_000 } },
    // Each file would load the package, zod and Express again. What a file replaces in its process it puts
    // back.
    isolate: false,
    setupFiles: ['test/support/name-late-failures.ts', 'test/support/leave-none-pending.ts'],
    globalSetup: ['test/support/name-failed-files.ts'],
    // What fails in silence is what these tests are about, so nothing is left to a default.
    dangerouslyIgnoreUnhandledErrors: false,
    allowOnly: false,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'quick',
          ...layers.quick,
          setupFiles: ['test/support/no-programs.ts', 'test/support/costs/count.ts'],
          // More than cores, of which two are usual: most tests wait for sockets and timers.
          maxWorkers: 8,
          sequence: { groupOrder: 1 },
        },
      },
      programs('first', 0, 'test/support/costs/check-budget.ts'),
      programs('program', 2),
      {
        extends: true,
        test: {
          name: 'storm',
          ...layers.storm,
          maxWorkers: 4,
          sequence: { groupOrder: 3 },
          testTimeout: 300_000,
          hookTimeout: 300_000,
          setupFiles: ['test/support/leave-nothing.ts'],
          globalSetup: [
            'test/support/install-programs.ts',
            'test/support/build.ts',
            'test/stores/postgres/setup.ts',
          ],
        },
      },
      {
        extends: true,
        test: {
          name: 'files',
          ...layers.files,
          maxWorkers: 4,
          sequence: { groupOrder: 0 },
          setupFiles: ['test/support/leave-nothing.ts'],
          globalSetup: ['test/support/build.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'matrix',
          ...layers.matrix,
          // A file waits half of its time, for the registry of npm or for a time limit to pass.
          maxWorkers: 4,
          sequence: { groupOrder: 4 },
          testTimeout: 300_000,
          hookTimeout: 600_000,
          setupFiles: ['test/support/leave-nothing.ts'],
          globalSetup: [
            'test/support/install-programs.ts',
            'test/stores/dynamodb/install-emulator.ts',
            'test/stores/sqlite/install-driver.ts',
            'test/support/build.ts',
            'test/stores/postgres/setup.ts',
          ],
        },
      },
    ],
  },
});
