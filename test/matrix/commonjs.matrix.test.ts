import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { packageRoot } from '../support/child-program.ts';
import { type LinkedPackage, linkPackage } from '../support/installed-package.ts';
import { snippetWith } from '../support/snippet.ts';

const PAGE = 'docs/testing.md';

/** A project with posthorn and other packages, until the test ends. */
function installProject(...packages: readonly string[]): LinkedPackage {
  const installed = linkPackage(...packages);
  onTestFinished(installed.remove);
  return installed;
}

/** The packages of all tests with a version of Jest: npm installs them once. */
const jestWith = (version: string): readonly string[] => [
  ...[`jest@${version}`, `@types/jest@${version}`, 'ts-jest@29', 'typescript@5.9', '@types/node@20'],
  ...['express@5', 'big.js@7'],
];

/** The packages of a compilation with a version of TypeScript, by default the one of these tests. */
const typescriptWith = (version: string): readonly string[] =>
  version.startsWith('5.5') ? ['typescript@5.5', '@types/node@20'] : jestWith('30');

/** A CommonJS project of test/matrix/projects, with what it needs. */
function createProject(name: string, ...packages: readonly string[]): LinkedPackage {
  const installed = installProject(...packages);
  cpSync(join(import.meta.dirname, 'projects', name), installed.project, { recursive: true });
  return installed;
}

/** The types of zod, which the client and the sandbox name, need esModuleInterop, or else skipLibCheck. */
const strict = ['--strict', '--esModuleInterop', '--target', 'ES2022', '--types', 'node'];

describe('CommonJS projects that cannot load ESM:', () => {
  test.each(['29', '30'])('Jest %s', (version) => {
    const { run } = createProject('jest', ...jestWith(version));
    expect(run('node_modules/.bin/jest', ['--json'])).toMatch('"numPassedTests":4');
  });

  test.each(['29', '30'])(
    'Jest %s runs the recipes of docs/testing.md, as CommonJS and as ESM',
    (version) => {
      const { project, run } = installProject(...jestWith(version));
      const js = snippetWith('jest', PAGE, 'js');
      // It has no types, so that Jest can run it too.
      const ts = snippetWith('createFileDeadLetters', PAGE);
      const forJest = ts.replaceAll('vi.fn()', 'jest.fn()');
      const folder = (name: string, type: string, files: Readonly<Record<string, string>>): string => {
        mkdirSync(join(project, name));
        writeFileSync(join(project, name, 'package.json'), JSON.stringify({ type }));
        for (const [file, code] of Object.entries(files)) writeFileSync(join(project, name, file), code);
        return join(project, name);
      };
      const commonJs = folder('commonjs', 'commonjs', {
        'short.test.js': js,
        // What ts-jest and Babel make of the imports; Jest has its functions as globals.
        'long.test.js': forJest
          .replace(/^import .* from 'vitest';$/m, '')
          .replaceAll(/^import (.*) from (.*);$/gm, 'const $1 = require($2);'),
      });
      const esm = folder('esm', 'module', {
        'long.test.js': forJest.replace(
          /\{ expect, test, vi \} from 'vitest'/,
          "{ expect, jest, test } from '@jest/globals'",
        ),
      });
      const jest = 'node_modules/jest/bin/jest.js';
      const printedBy = (...words: readonly string[]): string =>
        run('sh', ['-c', `node ${words.join(' ')} --json 2>&1`]);
      const printed = printedBy(jest, '--rootDir', commonJs);
      expect(printed).toMatch('"numPassedTests":3');
      expect(printed).not.toMatch('dead_letters_missing');
      const inEsm = printedBy('--experimental-vm-modules', jest, '--rootDir', esm);
      expect(inEsm).toMatch('"numPassedTests":2');
      expect(inEsm).not.toMatch('dead_letters_missing');
    },
  );

  test.each(['29', '30'])('ts-jest with Jest %s', (version) => {
    const { run } = createProject('ts-jest', ...jestWith(version));
    expect(run('node_modules/.bin/jest', ['--json'])).toMatch('"numPassedTests":1');
  });

  test('NestJS 10, by a controller and by middleware of both adapters, but not by the module', () => {
    const nest = ['common', 'core', 'platform-express'].map((name) => `@nestjs/${name}@10`);
    const types = ['@types/express@4', '@types/node@20', 'typescript@5.9'];
    const { run } = createProject('nest', ...nest, 'reflect-metadata@0.2', 'rxjs@7', ...types);
    run('node_modules/.bin/tsc', ['-p', '.']);
    const lines = run('node', ['--no-experimental-require-module', 'main.js']).trim().split('\n');
    expect(lines).toEqual([
      ...['controller', 'express', 'node'].flatMap((path) => [
        `${path} transfer.succeeded`,
        `${path} 200 processed 403`,
      ]),
      'controller NestFactory.create(AppModule, { rawBody: true })',
      'controller 500 body_already_parsed',
      'module posthorn/nestjs needs NestJS 11.1.4 or later: update @nestjs/core',
    ]);
  });

  test.each([
    ['5.5, the oldest', 'node16', 'node16'],
    ['5.5, the oldest', 'commonjs', 'node10'],
    ['5.9', 'node16', 'node16'],
    ['5.9', 'commonjs', 'node10'],
  ])('TypeScript %s, module %s, moduleResolution %s', (version, module, moduleResolution) => {
    const { run } = createProject('typescript', ...typescriptWith(version));
    const options = ['--module', module, '--moduleResolution', moduleResolution];
    run('node_modules/.bin/tsc', [...strict, ...options, '--noEmit', '--lib', 'es2022,dom', 'use.ts']);
    run('node_modules/.bin/tsc', [...strict, ...options, 'use.ts']);
    expectToRun(run);
  });

  test('TypeScript 5.5 names a misspelt pattern, and in a list the nearest one, as docs/handlers.md says', () => {
    const { project, run } = createProject('typescript', ...typescriptWith('5.5'));
    const code = `
      import { createReceiver } from 'posthorn';
      createReceiver({ signingKey: 'key' }).on('transfer.suceeded', () => {}).on(['trasnfer.*'], () => {});`;
    writeFileSync(join(project, 'misspelt.ts'), code);
    const tsc = ['node_modules/.bin/tsc', ...strict, '--module', 'node16', 'misspelt.ts'];
    const printed = run('sh', ['-c', `${tsc.join(' ')} || true`]);
    expect(printed).toContain(
      `Argument of type '"transfer.suceeded"' is not assignable to parameter of type 'Pattern | readonly Pattern[]'.`,
    );
    expect(printed).toContain(
      `Type '"trasnfer.*"' is not assignable to type 'Pattern'. Did you mean '"transfer.*"'?`,
    );
  });

  test.each(['node16', 'nodenext', 'commonjs'])('TypeScript 7, module %s', (module) => {
    const { run } = createProject('typescript', ...typescriptWith('7'));
    const tsc = join(packageRoot, 'node_modules', '.bin', 'tsc');
    run(tsc, [...strict, '--module', module, 'use.ts']);
    expectToRun(run);
  });
});

/** Runs what was compiled, where `require` takes CommonJS only. */
function expectToRun(run: LinkedPackage['run']): void {
  expect(run('node', ['--no-experimental-require-module', 'use.js'])).toBe(
    'parked handler_failed_permanently\n',
  );
}
