import { readdirSync, readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod';
import manifest from '../../package.json' with { type: 'json' };
import config from '../../vitest.config.ts';
import { packageRoot } from '../support/child-program.ts';

const patterns = z.array(z.string());
const layer = z.object({ name: z.string(), include: patterns, exclude: patterns.optional() });
const { projects } = z
  .object({ projects: z.array(z.object({ test: layer })) })
  .parse('test' in config ? config.test : {});

const files = readdirSync(join(packageRoot, 'test'), { recursive: true, encoding: 'utf8' })
  .map((name) => `test/${name.replaceAll('\\', '/')}`)
  .filter((name) => name.endsWith('.test.ts') && !name.includes('node_modules'));

function layersOf(file: string): readonly string[] {
  const matches = (globs: readonly string[] = []): boolean => globs.some((glob) => matchesGlob(file, glob));
  return projects
    .filter(({ test: { include, exclude } }) => matches(include) && !matches(exclude))
    .map(({ test: { name } }) => name);
}

/** The layers that a script of package.json runs. */
const layersRunBy = (script: string): readonly string[] =>
  Array.from(script.matchAll(/--project (\w+)/g), ([, name = '']) => name);

test('each test file is in one layer, by the end of its name', () => {
  expect(files.length).toBeGreaterThan(300);
  const layers = files.map((file) => {
    const [, end = 'quick'] = /\.(first|program|storm|matrix)(?:\.program)?\.test\.ts$/.exec(file) ?? [];
    return { file, end, layers: layersOf(file).filter((name) => name !== 'files') };
  });
  expect(layers.filter((one) => one.layers.join() !== one.end)).toEqual([]);
});

test('the files that run on macOS and Windows are some of those that start programs', () => {
  const own = files.filter((file) => layersOf(file).includes('files'));
  expect(own.length).toBeGreaterThan(1);
  expect(
    own.filter((file) => !layersOf(file).some((name) => name === 'first' || name === 'program')),
  ).toEqual([]);
});

test('.ci/run runs every layer once, and npm run test:all does so, too', () => {
  const ciRun = readFileSync(join(packageRoot, '.ci', 'run'), 'utf8');
  const names = Array.from(ciRun.matchAll(/^check(?:_tests)? (\S+)/gm), ([, name = '']) => name);
  const scripts: Readonly<Record<string, string>> = manifest.scripts;
  const layers = ['first', 'matrix', 'program', 'quick', 'storm'];
  expect(names.flatMap((name) => layersRunBy(scripts[name] ?? '')).sort()).toEqual(layers);
  expect([...layersRunBy(manifest.scripts['test:all'])].sort()).toEqual(layers);
});

/** The lines of all TypeScript in a folder, but for what npm has installed there. */
function linesIn(folder: string): number {
  return readdirSync(join(packageRoot, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => !path.includes('node_modules'))
    .reduce((sum, path) => sum + readFileSync(path, 'utf8').split('\n').length - 1, 0);
}

test('the lines of tests do not grow faster than those of the sources', () => {
  expect(linesIn('test') / (linesIn('src') + linesIn('adapters'))).toBeLessThan(2.0643);
});
