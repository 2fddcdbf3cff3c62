import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../support/child-program.ts';
import { rowsOf } from '../support/table-rows.ts';

const read = (path: string): string => readFileSync(join(packageRoot, path), 'utf8');
const manifest = JSON.parse(read('package.json'));

/** The rows of docs/troubleshooting.md that say how to install a package. */
const rows = rowsOf('docs/troubleshooting.md')
  .filter((cells) => cells.at(-1)?.startsWith('`npm install '))
  .map(([subpath = '', versions = '', command = '']) => ({
    subpath: /^`posthorn(\/\w+)`/.exec(subpath)?.[1],
    name: /^`npm install (\S+)`$/.exec(command)?.[1] ?? '',
    versions: versions.replaceAll(', ', ' || '),
  }));

/** The packages that the subpaths import, other than for their types. */
function importedPackages(): Set<string> {
  const files = ['src', 'adapters'].flatMap((folder) =>
    readdirSync(join(packageRoot, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !path.startsWith('cli'))
      .map((path) => `${folder}/${path}`),
  );
  const statement = /^import (?!type )[^;]*? from '([^']+)'/gm;
  return new Set(files.flatMap((file) => [...read(file).matchAll(statement)].map(([, name = '']) => name)));
}

test('each peer of package.json has its row, with its versions and the command that installs it', () => {
  expect(Object.fromEntries(rows.map(({ name, versions }) => [name, versions]))).toEqual(
    manifest.peerDependencies,
  );
});

test('each row names a subpath of the package', () => {
  for (const { subpath } of rows) expect(manifest.exports).toHaveProperty([`.${subpath}`]);
});

test('the first five subpaths are those whose packages posthorn imports itself', () => {
  const imported = importedPackages();
  expect(imported).toContain('zod/mini');
  expect(read('docs/troubleshooting.md').replaceAll('\n', ' ')).toContain('the first five subpaths itself');
  const ofPosthorn = rows.filter(({ name }) => imported.has(name));
  expect(rows.slice(0, ofPosthorn.length)).toEqual(ofPosthorn);
  expect(new Set(ofPosthorn.map(({ subpath }) => subpath)).size).toBe(5);
});
