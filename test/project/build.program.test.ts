import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot, startProgram } from '../support/child-program.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** In the place of the compiler: writes down that it was called, and leaves a file. */
const TSC = `
const { appendFileSync, mkdirSync, writeFileSync } = require('node:fs');
appendFileSync('calls', process.argv.slice(2).join(' ') + '\\n');
const folder = process.argv.includes('tsconfig.json') ? 'dist/src' : 'dist/cjs';
mkdirSync(folder, { recursive: true });
writeFileSync(folder + '/index.js', '');
process.exitCode = process.env.FAILS ? 2 : 0;`;

/** A project that has what the build needs. */
async function project(): Promise<string> {
  const folder = temporaryDirectory();
  const write = (path: string, content: string): void => {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), content);
  };
  write('package.json', '{ "type": "module" }');
  write('src/index.ts', 'first');
  write('src/other.ts', '');
  write('examples/one/server.ts', '');
  write('examples/own/package.json', '{}');
  write('node_modules/typescript/package.json', '{ "type": "commonjs" }');
  write('node_modules/typescript/bin/tsc', TSC);
  write('tools/remove-unread-files.js', '');
  cpSync(join(packageRoot, 'tools', 'build.js'), join(folder, 'tools', 'build.js'));
  return folder;
}

/** Builds a project; returns how often it has been compiled since. */
async function build(folder: string, env: NodeJS.ProcessEnv = {}, ...args: readonly string[]) {
  rmSync(join(folder, 'calls'), { force: true });
  const program = startProgram(join(folder, 'tools', 'build.js'), env, folder, args);
  const code = await program.exit;
  const calls = existsSync(join(folder, 'calls')) ? readFileSync(join(folder, 'calls'), 'utf8') : '';
  return { code, compilations: calls.split('\n').length - 1 };
}

const done = { code: 0, compilations: 2 };
const nothing = { code: 0, compilations: 0 };

test('npm run build compiles both forms of the package, whatever was there', async () => {
  const folder = await project();
  expect(await build(folder)).toEqual(done);
  writeFileSync(join(folder, 'dist', 'src', 'old.js'), '');
  expect(await build(folder)).toEqual(done);
  expect(existsSync(join(folder, 'dist', 'src', 'old.js'))).toBe(false);
  expect(readFileSync(join(folder, 'dist', 'cjs', 'package.json'), 'utf8')).toBe('{"type":"commonjs"}');
});

test('a build of what has changed compiles nothing if nothing has', async () => {
  const folder = await project();
  expect(await build(folder, {}, '--if-changed')).toEqual(done);
  expect(await build(folder, {}, '--if-changed')).toEqual(nothing);
  // An example with a package.json is not compiled.
  writeFileSync(join(folder, 'examples', 'own', 'server.ts'), '');
  expect(await build(folder, {}, '--if-changed')).toEqual(nothing);
  // Tests write here.
  mkdirSync(join(folder, 'dist', 'readme'));
  expect(await build(folder, {}, '--if-changed')).toEqual(nothing);
});

test.each([
  { name: 'a source', change: (folder: string) => writeFileSync(join(folder, 'src/index.ts'), 'other') },
  { name: 'a removed source', change: (folder: string) => rmSync(join(folder, 'src/other.ts')) },
  {
    name: 'an example',
    change: (folder: string) => writeFileSync(join(folder, 'examples/one/receiver.ts'), ''),
  },
  {
    name: 'the compiler',
    change: (folder: string) => writeFileSync(join(folder, 'package-lock.json'), '{}'),
  },
  { name: 'what was built', change: (folder: string) => rmSync(join(folder, 'dist/cjs/index.js')) },
])('a build of what has changed compiles everything again after a change of $name', async ({ change }) => {
  const folder = await project();
  await build(folder);
  change(folder);
  expect(await build(folder, {}, '--if-changed')).toEqual(done);
});

test('a build that fails says so, and the next one compiles again', async () => {
  const folder = await project();
  expect(await build(folder, { FAILS: '1' })).toEqual({ code: 2, compilations: 1 });
  expect(await build(folder, {}, '--if-changed')).toEqual(done);
});
