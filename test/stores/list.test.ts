import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { advisedStores, type ListedStore, stores } from '../../src/stores/list.ts';
import { packageRoot } from '../support/child-program.ts';

describe('the list of stores', () => {
  test.each(stores)('names what posthorn/$name exports', async (listed) => {
    const { name, store, deadLetters, inbox, journal, migration } = listed;
    const exported: object = await import(`../../src/stores/${name}/index.ts`);
    const functions = Object.keys(exported).filter((key) => /^create/.test(key));
    const named = [store, deadLetters, inbox, journal].filter((key) => key !== undefined);
    expect(functions.sort()).toEqual(named.sort());
    expect(Object.keys(exported).some((key) => /^migrate|Migration$/.test(key))).toBe(
      migration !== undefined,
    );
    if (migration !== undefined) expect(exported).toHaveProperty(migration);
  });

  test.each(stores)('has of $name what package.json has', ({ name, peers }) => {
    const file = `src/stores/${name}/index`;
    const [imported, required] = [`./dist/${file}`, `./dist/cjs/${file}`];
    expect(Object.entries(manifest.exports)).toContainEqual([
      `./${name}`,
      {
        import: { types: `${imported}.d.ts`, default: `${imported}.js` },
        require: { types: `${required}.d.ts`, default: `${required}.js` },
      },
    ]);
    expect(Object.entries(manifest.typesVersions['*'])).toContainEqual([name, [`${required}.d.ts`]]);
    for (const peer of peers) {
      expect(Object.keys(manifest.peerDependencies)).toContain(peer);
      expect(Object.entries(manifest.peerDependenciesMeta)).toContainEqual([peer, { optional: true }]);
    }
  });

  test.each(stores)('has $name, which has a page', ({ name }) => {
    expect(existsSync(join(packageRoot, 'docs', `${name}.md`))).toBe(true);
  });

  test('advises stores that run on the platform', () => {
    for (const [place, names] of Object.entries(advisedStores)) {
      if (place === 'queue') continue;
      const fitting = stores.filter(({ platforms }) => platforms.some((platform) => platform === place));
      expect(fitting.map(({ name }) => name)).toEqual(expect.arrayContaining([...names]));
    }
  });
});

describe('the table of docs/stores.md', () => {
  const [, table = ''] = readFileSync(join(packageRoot, 'docs/stores.md'), 'utf8').split('## Side by side\n');
  const rows = table
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.replace(/^\| | \|$/g, '').split(' | '));

  /** The cells of a row of the stores, by the titles in the head of the table. */
  function cellsOf(title: string): ReadonlyMap<string, string> {
    const row = rows.find(([first]) => first?.startsWith(title)) ?? [];
    const titles = rows[0]?.slice(1) ?? [];
    return new Map(titles.map((each, index) => [each, row[index + 1] ?? '']));
  }

  const expectCells = (title: string, cellOf: (store: ListedStore) => unknown): void => {
    const cells = cellsOf(title);
    for (const store of stores) expect(cells.get(store.title), store.name).toEqual(cellOf(store));
  };

  test('has a column for each store, beside that in memory', () => {
    expect([...cellsOf('import').keys()].sort()).toEqual(
      ['memory', ...stores.map(({ title }) => title)].sort(),
    );
  });

  test('names the subpaths and the functions of the list', () => {
    expectCells('import', ({ name }) => `\`posthorn/${name}\``);
    expectCells('dead letters', ({ deadLetters }) => `\`${deadLetters}\``);
  });

  test('says where each fits, and which have an inbox', () => {
    expectCells('runs on', ({ platforms }) => platforms.join(', '));
    expectCells('inbox', ({ inbox }) =>
      expect.stringMatching(inbox === undefined ? /^(no|\[no\].*)$/ : /^\[yes\]/),
    );
  });
});
