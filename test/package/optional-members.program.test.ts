import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../support/child-program.ts';
import { specifiers } from './specifiers.ts';

/**
 * The names of optional members, among the parameters of all functions, that may be left out but not be
 * undefined. A parameter that has a method of its own, such as a client, or is an error, or has names that
 * the application chooses, is not options.
 */
const GAPS = `
  type Call = (...all: never) => unknown;
  type IsOptional<T, K extends keyof T> = {} extends Pick<T, K> ? true : false;
  type Methods<T> =
    { [K in keyof T]-?: IsOptional<T, K> extends true ? never : T[K] extends Call ? K : never }[keyof T];
  type GapsIn<T> =
    { [K in keyof T]-?: IsOptional<T, K> extends true ? { [P in K]: undefined } extends Pick<T, K> ? never : K : never }[keyof T];
  type Gaps<T> =
    T extends Call | readonly unknown[] | Error ? never
    : string extends keyof T ? never
    : T extends object ? [Methods<T>] extends [never] ? GapsIn<T> : never
    : never;
  type GapsOf<M> = { [K in keyof M]-?:
    M[K] extends (...all: infer A) => unknown ? Gaps<A[number]>
    : M[K] extends abstract new (...all: infer A) => unknown ? Gaps<A[number]> | GapsOf<Omit<M[K], 'prototype'>>
    : never }[keyof M];`;

test('an option of any function may be undefined, which means its default, with exactOptionalPropertyTypes', () => {
  // Inside the package, so that the file imports it by its name: what is built, not the sources.
  const folder = mkdtempSync(join(packageRoot, 'dist', 'options-'));
  const imports = specifiers.map((name, index) => `import type * as m${index} from '${name}';`);
  const modules = specifiers.map((_, index) => `typeof m${index}`);
  const check = (type: string): string => `null satisfies null as never as GapsOf<${type}> satisfies never;`;
  const client = `import type { Client } from 'posthorn/client';`;
  const types = [...modules, 'm0.Receiver', 'm0.DeadLetters', 'Client', `Client['webhooks']`];
  writeFileSync(join(folder, 'options.ts'), [...imports, client, GAPS, ...types.map(check)].join('\n'));
  const tsc = join(packageRoot, 'node_modules', 'typescript', 'bin', 'tsc');
  const options = [
    '--ignoreConfig',
    '--noEmit',
    '--strict',
    '--exactOptionalPropertyTypes',
    '--skipLibCheck',
  ];
  const args = [
    tsc,
    ...options,
    '--module',
    'nodenext',
    '--types',
    'node',
    '--pretty',
    'false',
    'options.ts',
  ];
  const { stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  expect(stdout).toBe('');
});
