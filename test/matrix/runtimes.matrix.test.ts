import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packageRoot } from '../support/child-program.ts';
import { type InstalledPackage, installPackage } from '../support/installed-package.ts';
import { bunPackage, denoPackage, nodePackage, nodeProgram, runtimeFolder } from './runtime.ts';

const { arch } = process;

interface Runtime {
  readonly name: string;
  readonly from: string;
  /** Below the folder of the package. */
  readonly program: string;
  readonly args: readonly string[];
  /** Architectures that the registry has no binary for, and why. */
  readonly leftOut?: Readonly<Record<string, string>>;
}

/** 20.19.0 is the oldest version that package.json allows. */
const allRuntimes: readonly Runtime[] = [
  { name: 'Node.js 20.19.0', from: `${nodePackage}@20.19.0`, program: 'bin/node', args: [] },
  { name: 'Node.js 22.23.3', from: `${nodePackage}@22.23.3`, program: 'bin/node', args: [] },
  { name: 'Node.js 24.21.0', from: `${nodePackage}@24.21.0`, program: 'bin/node', args: [] },
  { name: 'Node.js 26.10.0', from: `${nodePackage}@26.10.0`, program: 'bin/node', args: [] },
  { name: 'Bun 1.4.5', from: `${bunPackage}@1.4.5`, program: 'bin/bun', args: ['--no-install'] },
  {
    name: 'Deno 2.9.6',
    from: `${denoPackage}@2.9.6`,
    program: 'deno',
    args: ['run', '--allow-all'],
    leftOut: { arm64: 'the registry has no version 2.9.6 of @deno/linux-arm64-glibc' },
  },
];
const runtimes = allRuntimes.filter(({ leftOut = {} }) => !Object.hasOwn(leftOut, arch));

/** What becomes of the deliveries of deliveries.mjs: the same everywhere. */
const results = {
  processed: '200 processed',
  duplicate: '200 duplicate',
  concurrent: ['200 duplicate', '200 processed'],
  parked: '200 parked',
  failed: '500 handler_failed',
  ignored: '200 ignored',
  forged: '403 signature_mismatch',
  tooLarge: '413 body_too_large',
  encoded: '415 encoding_unsupported',
  wrongMethod: '405 method_not_allowed',
  wrongPath: '404 not_found',
  letters: ['dispute.created handler_failed_permanently'],
  replay: ['processed'],
  lettersLeft: 0,
  verify: ['transfer.created', 'signature_mismatch'],
  chunked: '200 processed',
  chunkedTooLarge: '413 connection: close body_too_large',
  pipelined: '200 processed 200 processed',
  refusedThenSent: '403 signature_missing 200 processed',
  slowBody: '408 connection: close body_timeout',
  signatureTwice: '403 signature_repeated',
  hungUp: 'body_incomplete false',
  http2: '200 processed',
  close: { abandoned: [] },
  fetch: {
    processed: '200 processed',
    duplicate: '200 duplicate',
    concurrent: ['200 duplicate', '200 processed'],
    forged: '403 signature_mismatch',
    chunked: '200 duplicate',
    tooLarge: '413 body_too_large',
    chunkedTooLarge: '413 body_too_large',
    empty: '400 body_not_json',
    wrongMethod: '405 method_not_allowed',
    slowBody: '408 body_timeout',
  },
};

/** The outcomes of the deliveries of sqlite.mjs, the same everywhere. */
const resultsOfSqlite = {
  failed: [],
  outcomes: [
    ...['processed', 'duplicate', 'inbox_rolled_back', 'inbox_handler_async'],
    // Locked, inside a transaction, moved, and put back.
    ...['store_unavailable', 'store_unavailable', 'store_unavailable', 'duplicate'],
    // Handled before the restart, and closed.
    ...['duplicate', 'store_unavailable'],
  ],
  settings: [1, 1234],
  ledger: 1,
  letters: ['evt 0 255'],
  entries: ['2 0 255 book', '2 undefined', 'processed', 0],
};

/** Options that change the forms of rows. A runtime ignores those that it does not know. */
const sqliteOptions = [
  { name: 'objects and numbers', options: {} },
  { name: 'arrays and bigints', options: { readBigInts: true, returnArrays: true, safeIntegers: true } },
];

let installed: InstalledPackage;
let project: string;

beforeAll(() => {
  installed = installPackage();
  ({ project } = installed);
  for (const name of ['deliveries.mjs', 'fetch-deliveries.mjs', 'smoke.mjs', 'smoke.cjs', 'sqlite.mjs']) {
    copyFileSync(join(packageRoot, 'test', 'matrix', name), join(project, name));
  }
});

afterAll(() => installed.remove());

describe.each(runtimes)('$name', ({ name, from, program, args }) => {
  let runtime: string;

  beforeAll(() => {
    runtime = join(runtimeFolder(from), program);
  });

  test.each([
    ['import', 'smoke.mjs'],
    ['require', 'smoke.cjs'],
  ])('receives deliveries with what it gets by %s', (_, file) => {
    const output = execFileSync(runtime, [...args, file], { cwd: project, encoding: 'utf8' });
    expect(JSON.parse(output)).toEqual({ runtime: name, ...results });
  });

  // Node.js has SQLite from 22.13 on; on Node.js 20 test/stores/sqlite runs better-sqlite3.
  if (!name.startsWith('Node.js 20.')) {
    test.each(sqliteOptions)(
      'keeps ids, letters and effects in the SQLite that it brings: $name',
      (forms) => {
        const words = [...args, 'sqlite.mjs', `${name}-${forms.name}.db`, JSON.stringify(forms.options)];
        const output = execFileSync(runtime, words, { cwd: project, encoding: 'utf8' });
        expect(JSON.parse(output)).toEqual(resultsOfSqlite);
      },
    );
  }

  test('has its row in docs/runtimes.md', () => {
    expect(readFileSync(join(packageRoot, 'docs', 'runtimes.md'), 'utf8')).toContain(`| ${name} |`);
  });
});

describe('Node.js 18.20.8, which is too old, is told which version is needed', () => {
  let runtime: string;

  beforeAll(() => {
    runtime = nodeProgram('18.20.8');
  });

  /** Runs a program that fails; returns what it prints as its error. */
  function failureOf(...args: readonly string[]): {
    readonly status: number | null;
    readonly stderr: string;
  } {
    const { status, stdout, stderr } = spawnSync(runtime, args, { cwd: project, encoding: 'utf8' });
    expect(stdout).toBe('');
    return { status, stderr };
  }

  test.each([
    ['import', `import('posthorn')`],
    ['require', `require('posthorn')`],
  ])('by %s', (_, program) => {
    const { status, stderr } = failureOf('--eval', program);
    expect(status).toBe(1);
    expect(stderr).toMatch(/^ConfigurationError: posthorn needs Node\.js 20\.19 or later/m);
    expect(stderr).not.toMatch(/SyntaxError/);
  });

  test.each([['--version'], ['demo', '--port', '0']])('by the program, %s', (...args) => {
    expect(failureOf('node_modules/.bin/posthorn', ...args)).toEqual({
      status: 2,
      stderr: 'posthorn: this needs Node.js 20.19 or later, and runs on v18.20.8\n',
    });
  });

  test('which is that of package.json', () => {
    const { engines } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));
    expect(engines.node).toBe('>=20.19');
  });
});
