import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packageRoot } from '../support/child-program.ts';
import { createPackedProject, npmInstall } from '../support/packed-project.ts';
import { snippetWith } from '../support/snippet.ts';

const PAGE = 'docs/handlers.md';
const handlers = snippetWith('WRONG', PAGE);
const wrongLine = handlers.split('\n').findIndex((line) => line.includes('WRONG')) + 1;
let project: string;

beforeAll(() => {
  project = createPackedProject();
  // typescript-eslint 8 does not read the API of TypeScript 7.
  npmInstall(project, 'eslint@10.15.0', 'typescript-eslint@8.73.0', 'typescript@5.9.3', '@types/node@20');
  mkdirSync(join(project, 'src'));
  writeFileSync(join(project, 'src', 'handlers.ts'), handlers);
  const compilerOptions = { module: 'nodenext', target: 'es2023', strict: true, types: ['node'] };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['src'] }));
});

afterAll(() => rmSync(project, { recursive: true }));

test('the configuration of typescript-eslint finds the handler that does not wait, and no other', () => {
  writeFileSync(join(project, 'eslint.config.mjs'), snippetWith('typescript-eslint', PAGE, 'js'));
  const found = lint(join(project, 'node_modules/.bin/eslint'), ['--format', 'json', 'src']);
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
  return spawnSync(program, args, { cwd: project, encoding: 'utf8' }).stdout;
}
