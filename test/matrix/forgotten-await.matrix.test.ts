import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packageRoot } from '../support/child-program.ts';
import { type InstalledPackage, installPackage } from '../support/installed-package.ts';
import { snippetWith } from '../support/snippet.ts';

const PAGE = 'docs/handlers.md';
const handlers = snippetWith('WRONG', PAGE);
const wrongLine = handlers.split('\n').findIndex((line) => line.includes('WRONG')) + 1;
let installed: InstalledPackage;

beforeAll(() => {
  const [install = ''] =
    /^npm install .* eslint .*$/m.exec(readFileSync(join(packageRoot, PAGE), 'utf8')) ?? [];
  installed = installPackage(`${install} @types/node@20 posthorn --ignore-scripts`);
  const { project } = installed;
  mkdirSync(join(project, 'src'));
  writeFileSync(join(project, 'src', 'handlers.ts'), handlers);
  const compilerOptions = { module: 'nodenext', target: 'es2023', strict: true, types: ['node'] };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['src'] }));
});

afterAll(() => installed.remove());

test('the configuration of typescript-eslint finds the handler that does not wait, and no other', () => {
  writeFileSync(join(installed.project, 'eslint.config.mjs'), snippetWith('typescript-eslint', PAGE, 'js'));
  const found = lint('node_modules/.bin/eslint', ['--format', 'json', 'src']);
  const [{ messages }] = JSON.parse(found);
  expect(messages).toMatchObject([{ ruleId: '@typescript-eslint/no-floating-promises', line: wrongLine }]);
});

test('so does the rule of Biome', () => {
  const biome = join(packageRoot, 'node_modules/.bin/biome');
  const found = lint(biome, ['lint', '--only=nursery/noFloatingPromises', '--reporter=github', 'src']);
  const places = found.match(/(?<=title=lint\/nursery\/noFloatingPromises,.*line=)\d+/g);
  expect(places).toEqual([String(wrongLine)]);
});

function lint(program: string, args: readonly string[]): string {
  return spawnSync(program, args, { cwd: installed.project, encoding: 'utf8' }).stdout;
}
