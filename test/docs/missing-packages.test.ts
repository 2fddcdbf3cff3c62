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
  .map(([subpath = '', name = '', versions = '', importedBy = '', command = '']) => ({
    subpath: /^`posthorn(\/\w+)`/.exec(subpath)?.[1],
    name: name.replaceAll('`', ''),
    versions: versions.replaceAll(' or ', ' || '),
    importedBy,
    command,
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
  for (const { name, command } of rows) expect(command).toBe(`\`npm install ${name}\``);
});

test('each row names a subpath of the package', () => {
  for (const { subpath } of rows) expect(manifest.exports).toHaveProperty([`.${subpath}`]);
});

test('the rows say which packages posthorn imports itself', () => {
  const imported = importedPackages();
  expect(imported).toContain('zod/mini');
  for (const { name, importedBy } of rows)
    expect([name, importedBy]).toEqual([name, imported.has(name) ? 'posthorn' : 'your program']);
});
