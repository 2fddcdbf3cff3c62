import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { packageRoot } from '../support/child-program.ts';

/**
 * Compiles a program of `programs/` before the tests, because Node.js has no decorators; returns the path of
 * the result. It lies in the package, so that the program imports what is built by the name of the package.
 */
export function useCompiledProgram(name: string): () => string {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(packageRoot, 'dist', 'nestjs-program-'));
    // `npm run types` checks its types.
    const options = ['--experimentalDecorators', '--noCheck', '--target', 'ES2023', '--module', 'nodenext'];
    const source = join(import.meta.dirname, 'programs');
    execFileSync(process.execPath, [
      join(packageRoot, 'node_modules', 'typescript', 'bin', 'tsc'),
      ...['--ignoreConfig', ...options, '--rootDir', source, '--outDir', folder, join(source, `${name}.ts`)],
    ]);
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  return () => join(folder, `${name}.js`);
}
