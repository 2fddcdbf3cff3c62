import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { stores } from '../../src/stores/list.ts';
import { packageRoot } from '../support/child-program.ts';
import { rowsOf } from '../support/table-rows.ts';

interface Import {
  /** A path from the root for a file of ours, else the name of a package. */
  readonly target: string;
  /** Erased by the compiler. */
  readonly typeOnly: boolean;
}

const read = (file: string): string => readFileSync(join(packageRoot, file), 'utf8');

function filesIn(folder: string): string[] {
  return readdirSync(join(packageRoot, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.includes('node_modules'))
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`);
}

/** The import and export statements of a file, and its calls of `import()` and `require()`. */
function importsOf(file: string): Import[] {
  const source = read(file).replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  const statements = source.matchAll(
    /^(?:import|export)\s+(type\s)?(?:[\w*{][^;'"=()]*?\sfrom\s+)?['"]([^'"]+)['"]/gm,
  );
  const calls = source.matchAll(/\b(?:import|require)\s*\(\s*['"]([^'"]+)['"]/g);
  return [
    ...Array.from(statements, ([, type, name]) => ({ name, typeOnly: type !== undefined })),
    ...Array.from(calls, ([, name]) => ({ name, typeOnly: false })),
  ].map(({ name = '', typeOnly }) => ({
    target: name.startsWith('.') ? posix.join(posix.dirname(file), name) : name,
    typeOnly,
  }));
}

const src = filesIn('src');
const files = [...src, ...filesIn('adapters')];
const imports = new Map(files.map((file) => [file, importsOf(file)]));

/** The files and packages that are loaded along with a file; with types, all that it names. */
function reachedFrom(file: string, withTypes: boolean): Set<string> {
  const reached = new Set<string>();
  const follow = (from: string): void => {
    for (const { target, typeOnly } of imports.get(from) ?? []) {
      if ((typeOnly && !withTypes) || reached.has(target)) continue;
      reached.add(target);
      follow(target);
    }
  };
  follow(file);
  return reached;
}

/** The places that the tables of src/README.md name, each with those that it may import. */
const places = new Map<string, readonly string[]>();
for (const [place = '', , permitted = ''] of rowsOf('src/README.md')) {
  const names = (cell: string): string[] =>
    Array.from(cell.matchAll(/`([^`]+?)\/?`/g), ([, name = '']) => name);
  places.set(names(place).join(), permitted === 'all above' ? [...places.keys()] : names(permitted));
}

/** The room that a file lies in, and its place in that room if the page divides the room, and so on. */
function placesOf(file: string): readonly string[] {
  const within = file.replace(/^src\//, '').split('/');
  const all = within.map((_, index) => within.slice(0, index + 1).join('/'));
  const isDivided = (place: string) => [...places.keys()].some((other) => other.startsWith(`${place}/`));
  return all.slice(0, all.findIndex((place) => !isDivided(place)) + 1);
}

function mayImport(from: string, to: string): boolean {
  const imported = placesOf(to);
  const depth = placesOf(from).findIndex((place, index) => place !== imported[index]);
  const [place, other] = [placesOf(from)[depth] ?? '', imported[depth] ?? ''];
  return depth === -1 || places.get(place)?.includes(other) === true;
}

test('the reader of imports sees what is there', () => {
  expect(src.length).toBeGreaterThan(20);
  expect(importsOf('src/index.ts')).toContainEqual({ target: 'src/create-receiver.ts', typeOnly: false });
  expect(importsOf('src/stores/file/dead-letters.ts')).toContainEqual({
    target: 'node:fs/promises',
    typeOnly: false,
  });
  expect(importsOf('adapters/answer.ts')).toContainEqual({
    target: 'src/receiver-interface.ts',
    typeOnly: true,
  });
  for (const file of files) {
    const froms = read(file).match(/^(?!\s*\/?\*).*(\bfrom '|\bimport\(')/gm) ?? [];
    expect(importsOf(file).length, file).toBe(froms.length);
  }
});

describe('imports point one way:', () => {
  test('every relative import names a file that is there', () => {
    const missing = [...imports].flatMap(([file, list]) =>
      list.filter(({ target }) => /^(src|adapters|\.)/.test(target) && !imports.has(target)).map(() => file),
    );
    expect(missing).toEqual([]);
  });

  test('every file lies in a place of src/README.md, and each of these is there', () => {
    expect(files.filter((file) => !placesOf(file).every((place) => places.has(place)))).toEqual([]);
    const folders = ['src', '.'].map((folder) => join(packageRoot, folder));
    const isThere = (place: string) => folders.some((folder) => existsSync(join(folder, place)));
    expect([...places].flat(2).filter((place) => !isThere(place))).toEqual([]);
  });

  test('each file imports only what src/README.md permits, types included', () => {
    const wrong = [...imports].flatMap(([file, list]) =>
      list
        .filter(({ target }) => imports.has(target) && !mayImport(file, target))
        .map(({ target }) => `${file} imports ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  test('no file imports itself by way of others, types included', () => {
    expect(files.filter((file) => reachedFrom(file, true).has(file))).toEqual([]);
  });

  test('the tables would refuse a type import the wrong way', () => {
    expect(importsOf('src/receiver/handling/ways-in/park-run.ts')).toContainEqual({
      target: 'src/receiver/handling/run/run.ts',
      typeOnly: true,
    });
    const [run, lease] = ['src/receiver/handling/run/run.ts', 'src/receiver/dedupe/lease.ts'];
    expect(mayImport(run, 'src/receiver/handling/handlers/router.ts')).toBe(true);
    expect(mayImport(run, lease)).toBe(true);
    expect(mayImport(lease, run)).toBe(false);
    expect(mayImport(run, 'src/stores/memory/memory.ts')).toBe(false);
    expect(mayImport(run, 'src/receiver/receiver.ts')).toBe(false);
    expect(mayImport('src/stores/redis/client.ts', 'src/stores/postgres/client.ts')).toBe(false);
  });
});

test('the receiver names nothing of the service, which is one provider of several', () => {
  const facts =
    /x-service|created_at|\b(transfer|merchant|payment_instrument|settlement|dispute)s?\b(?!-encoding)|30_000|300_000, 900_000/;
  const named = src.filter((file) => file.startsWith('src/receiver/') && facts.test(read(file)));
  expect(named).toEqual([]);
  expect(facts.test(read('src/providers/banking-service/service.ts'))).toBe(true);
});

describe('the root export', () => {
  const { dependencies, peerDependencies } = manifest;
  const packageOf = (target: string): string => target.split('/', target.startsWith('@') ? 2 : 1).join('/');
  const loaded = [...reachedFrom('src/index.ts', false)];

  test('loads no node:fs and no peer', () => {
    expect(loaded).toContain('src/stores/memory/memory.ts');
    expect(loaded.filter((target) => /^(node:)?fs(\/|$)/.test(target))).toEqual([]);
    expect(loaded.filter((target) => packageOf(target) in peerDependencies)).toEqual([]);
  });

  test('loads the list of stores, which imports nothing, and none of its stores', () => {
    expect(loaded).toContain('src/stores/list.ts');
    expect(importsOf('src/stores/list.ts')).toEqual([]);
    const rooms = stores.map(({ name }) => `src/stores/${name}/`);
    expect(loaded.filter((target) => rooms.some((room) => target.startsWith(room)))).toEqual([]);
  });

  test('loads only what a bundler takes in by the piece: zod/mini, and each form of zod as a namespace', () => {
    expect(loaded.filter((target) => packageOf(target) === 'zod')).toEqual(['zod/mini']);
    const named = files.filter((file) => /import (?!(type )?\* as z )[^;]*from 'zod/.test(read(file)));
    expect(named).toEqual([]);
  });

  test('names what it exports', () => {
    expect(read('src/index.ts')).not.toMatch(/export\s*\*/);
  });

  test('nothing loads a package that is neither a dependency nor a peer', () => {
    const foreign = [...imports.values()].flatMap((list) => list.map(({ target }) => target));
    const undeclared = foreign.filter(
      (target) =>
        !imports.has(target) &&
        !target.startsWith('node:') &&
        !(packageOf(target) in dependencies) &&
        !(packageOf(target) in peerDependencies),
    );
    expect(undeclared).toEqual([]);
  });
});

test('test/receiver has no other rooms than the receiver', () => {
  const rooms = new Set(filesIn('test/receiver').map((file) => posix.dirname(file).replace('test', 'src')));
  expect(rooms).toContain('src/receiver/handling/ways-in');
  expect([...rooms].filter((room) => !existsSync(join(packageRoot, room)))).toEqual([]);
});

test('no file or folder is a place for odds and ends', () => {
  const names = [...files, ...filesIn('test')].flatMap((file) =>
    file.replace(/(\.test)?\.ts$/, '').split('/'),
  );
  expect(names.filter((name) => /^(utils?|common|lib|helpers?|misc|shared)$/.test(name))).toEqual([]);
});

test('no comment is wider than 110 columns: the formatter wraps none', () => {
  const tooWide = [...files, ...filesIn('examples'), ...filesIn('test')].flatMap((file) =>
    read(file)
      .split('\n')
      .flatMap((line, index) =>
        /^\s*(\/\/|\/?\*)/.test(line) && line.length > 110 ? `${file}:${index + 1}` : [],
      ),
  );
  expect(tooWide).toEqual([]);
});

test('the files of this project that a source names exist', () => {
  const named = /(?<![\w./-])(?:adapters|bench|docs|src|test|tools)\/[\w./-]+\.(?:js|md|ts|txt)\b/g;
  const paths = files.flatMap((file) => read(file).match(named) ?? []);
  expect(paths).toContain('test/receiver/handling/run/run-steps.ts');
  expect(paths.filter((path) => !existsSync(join(packageRoot, path)))).toEqual([]);
});
