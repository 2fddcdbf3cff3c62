import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { packageRoot } from '../support/child-program.ts';
import { type InstalledPackage, installPackage } from '../support/installed-package.ts';

/** A CommonJS project of test/matrix/projects, with what it needs, until the test ends. */
function createProject(name: string, ...packages: readonly string[]): InstalledPackage {
  const installed = installPackage(['npm install posthorn', ...packages].join(' '));
  onTestFinished(installed.remove);
  cpSync(join(import.meta.dirname, 'projects', name), installed.project, { recursive: true });
  return installed;
}

/** The types of zod need esModuleInterop, or else skipLibCheck. */
const strict = ['--strict', '--esModuleInterop', '--target', 'ES2022', '--types', 'node'];

describe('CommonJS projects that cannot load ESM:', () => {
  test.each(['29', '30'])('Jest %s', (version) => {
    const { run } = createProject('jest', `jest@${version}`, 'express@5', 'big.js@7');
    expect(run('node_modules/.bin/jest', ['--json'])).toMatch('"numPassedTests":4');
  });

  test.each(['29', '30'])('ts-jest with Jest %s', (version) => {
    const packages = [`jest@${version}`, `@types/jest@${version}`, '@types/node@20'];
    const { run } = createProject('ts-jest', 'ts-jest@29', 'typescript@5.9', ...packages);
    expect(run('node_modules/.bin/jest', ['--json'])).toMatch('"numPassedTests":1');
  });

  test('NestJS 10, by a controller and by middleware of both adapters', () => {
    const nest = ['common', 'core', 'platform-express'].map((name) => `@nestjs/${name}@10`);
    const types = ['@types/express@4', '@types/node@20', 'typescript@5.9'];
    const { run } = createProject('nest', ...nest, 'reflect-metadata@0.2', 'rxjs@7', ...types);
    run('node_modules/.bin/tsc', ['-p', '.']);
    const lines = run('node', ['--no-experimental-require-module', 'main.js']).trim().split('\n');
    expect(lines).toEqual(
      ['controller', 'express', 'node'].flatMap((path) => [
        `${path} transfer.succeeded`,
        `${path} 200 processed 403`,
      ]),
    );
  });

  test.each([
    ['5.5, the oldest', 'node16', 'node16'],
    ['5.5, the oldest', 'commonjs', 'node10'],
    ['5.9', 'node16', 'node16'],
    ['5.9', 'commonjs', 'node10'],
  ])('TypeScript %s, module %s, moduleResolution %s', (version, module, moduleResolution) => {
    const { run } = createProject('typescript', `typescript@${version.slice(0, 3)}`, '@types/node@20');
    const options = ['--module', module, '--moduleResolution', moduleResolution];
    run('node_modules/.bin/tsc', [...strict, ...options, 'use.ts']);
    expectToRun(run);
  });

  test.each(['node16', 'nodenext', 'commonjs'])('TypeScript 7, module %s', (module) => {
    const { run } = createProject('typescript', '@types/node@20');
    const tsc = join(packageRoot, 'node_modules', '.bin', 'tsc');
    run(tsc, [...strict, '--module', module, 'use.ts']);
    expectToRun(run);
  });
});

/** Runs what was compiled, where `require` takes CommonJS only. */
function expectToRun(run: InstalledPackage['run']): void {
  expect(run('node', ['--no-experimental-require-module', 'use.js'])).toBe(
    'parked handler_failed_permanently\n',
  );
}
