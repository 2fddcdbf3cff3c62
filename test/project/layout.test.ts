import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';

const root = fileURLToPath(new URL('../..', import.meta.url));

interface Import {
  /** A path from the root for a file of ours, else the name of a package. */
  readonly target: string;
  /** Erased by the compiler. */
  readonly typeOnly: boolean;
}

function filesIn(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.includes('node_modules'))
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`);
}

/** The import and export statements of a file, and its calls of `import()` and `require()`. */
function importsOf(file: string): Import[] {
  const source = readFileSync(join(root, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
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
const adapters = filesIn('adapters');
const imports = new Map([...src, ...adapters].map((file) => [file, importsOf(file)]));

/** What one file imports of ours. */
function ours(file: string): string[] {
  return (imports.get(file) ?? []).map(({ target }) => target).filter((target) => imports.has(target));
}

/** Whether a file imports another one, itself or through others. */
function reaches(file: string, other: string, seen: Set<string> = new Set()): boolean {
  return ours(file).some((target) => {
    if (target === other) return true;
    if (seen.has(target)) return false;
    seen.add(target);
    return reaches(target, other, seen);
  });
}

/** Everything that is loaded along with a file. */
function loadedWith(file: string, seen: Set<string> = new Set()): Set<string> {
  for (const { target, typeOnly } of imports.get(file) ?? []) {
    if (typeOnly || seen.has(target)) continue;
    seen.add(target);
    loadedWith(target, seen);
  }
  return seen;
}

/** The rooms, and all that each may import besides itself, types included. */
const rooms: Readonly<Record<string, readonly string[]>> = {
  receiver: [],
  stores: ['receiver'],
  queues: ['receiver', 'stores'],
  observers: ['receiver'],
  service: ['receiver'],
  adapters: ['receiver'],
  'create-receiver.ts': ['receiver', 'stores'],
  'index.ts': ['receiver', 'stores', 'create-receiver.ts'],
  testing: ['receiver', 'stores', 'service', 'create-receiver.ts'],
  cli: ['receiver', 'stores', 'service', 'testing', 'adapters', 'create-receiver.ts'],
};

/** Inside a room, from the bottom up: each place imports only those before it. */
const floors: Readonly<Record<string, readonly string[]>> = {
  receiver: [
    ...['values/foreign-values.ts', 'values/parse-by.ts', 'errors.ts', 'values/check-options.ts', 'timing'],
    ...['request', 'authentication', 'events', 'outcomes', 'dedupe', 'dead-letters', 'queue', 'options.ts'],
    ...['handling', 'health', 'receiver-interface.ts', 'receiver.ts'],
  ],
  stores: ['kit', 'memory', 'file', 'redis', 'postgres', 'sqlite', 'd1', 'dynamodb'],
  service: ['shapes', 'openapi', 'client', 'sandbox'],
};

/** The room that a file lies in, and its path below that. */
function placeOf(file: string): { room: string; path: string } {
  const [room = '', ...path] = file.replace(/^src\//, '').split('/');
  return { room, path: path.join('/') };
}

function mayImport(from: string, to: string): boolean {
  const [importing, imported] = [placeOf(from), placeOf(to)];
  if (importing.room !== imported.room) return rooms[importing.room]?.includes(imported.room) === true;
  const order = floors[importing.room];
  if (order === undefined) return true;
  const floorOf = (path: string) =>
    order.findIndex((place) => path === place || path.startsWith(`${place}/`));
  return floorOf(imported.path) <= floorOf(importing.path);
}

test('the reader of imports sees what is there', () => {
  expect(src.length).toBeGreaterThan(20);
  expect(ours('src/index.ts')).toContain('src/create-receiver.ts');
  expect(importsOf('src/stores/file/dead-letters.ts')).toContainEqual({
    target: 'node:fs/promises',
    typeOnly: false,
  });
  expect(importsOf('adapters/answer.ts')).toContainEqual({
    target: 'src/receiver/receiver-interface.ts',
    typeOnly: true,
  });
  for (const file of [...src, ...adapters]) {
    const source = readFileSync(join(root, file), 'utf8');
    const froms = source.match(/^(?!\s*\/?\*).*(\bfrom '|\bimport\(')/gm) ?? [];
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

  test('every file lies in a room, and on a floor of it', () => {
    const lost = [...imports.keys()].filter((file) => {
      const { room, path } = placeOf(file);
      const order = floors[room];
      if (order === undefined) return rooms[room] === undefined;
      return !order.some((place) => path === place || path.startsWith(`${place}/`));
    });
    expect(lost).toEqual([]);
  });

  test('each file imports only what its room and its floor permit, types included', () => {
    const wrong = [...imports.keys()].flatMap((file) =>
      ours(file)
        .filter((target) => !mayImport(file, target))
        .map((target) => `${file} imports ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  test('no file imports itself by way of others, types included', () => {
    expect([...imports.keys()].filter((file) => reaches(file, file))).toEqual([]);
  });

  test('the list would refuse a type import the wrong way', () => {
    expect(importsOf('src/receiver/handling/delivery-progress.ts')).toContainEqual({
      target: 'src/receiver/handling/run.ts',
      typeOnly: true,
    });
    const [run, lease] = ['src/receiver/handling/run.ts', 'src/receiver/dedupe/lease.ts'];
    expect(mayImport(run, 'src/receiver/handling/router.ts')).toBe(true);
    expect(mayImport(run, lease)).toBe(true);
    expect(mayImport(lease, run)).toBe(false);
    expect(mayImport(run, 'src/stores/memory/memory.ts')).toBe(false);
    expect(mayImport(run, 'src/receiver/receiver.ts')).toBe(false);
  });
});

describe('the root export', () => {
  const manifest = z
    .object({
      peerDependencies: z.record(z.string(), z.string()),
      dependencies: z.record(z.string(), z.string()),
    })
    .parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
  const packageOf = (target: string): string => target.split('/', target.startsWith('@') ? 2 : 1).join('/');

  test('loads no node:fs and no peer', () => {
    const loaded = [...loadedWith('src/index.ts')];
    expect(loaded).toContain('src/stores/memory/memory.ts');
    expect(loaded.filter((target) => /^(node:)?fs(\/|$)/.test(target))).toEqual([]);
    expect(loaded.filter((target) => packageOf(target) in manifest.peerDependencies)).toEqual([]);
  });

  test('loads only what a bundler takes in by the piece: zod/mini, and each form of zod as a namespace', () => {
    const loaded = [...loadedWith('src/index.ts')];
    expect(loaded.filter((target) => packageOf(target) === 'zod')).toEqual(['zod/mini']);
    const named = [...src, ...adapters].filter((file) =>
      /import (?!(type )?\* as z )[^;]*from 'zod/.test(readFileSync(join(root, file), 'utf8')),
    );
    expect(named).toEqual([]);
  });

  test('names what it exports', () => {
    expect(readFileSync(join(root, 'src/index.ts'), 'utf8')).not.toMatch(/export\s*\*/);
  });

  test('nothing loads a package that is neither a dependency nor a peer', () => {
    const foreign = [...imports.values()].flat().filter(({ target }) => !imports.has(target));
    const undeclared = foreign.filter(
      ({ target }) =>
        !target.startsWith('node:') &&
        !(packageOf(target) in manifest.dependencies) &&
        !(packageOf(target) in manifest.peerDependencies),
    );
    expect(undeclared).toEqual([]);
  });
});

test('no file or folder is a place for odds and ends', () => {
  const names = [...src, ...adapters, ...filesIn('test')].flatMap((file) =>
    file.replace(/(\.test)?\.ts$/, '').split('/'),
  );
  expect(names.filter((name) => /^(utils?|common|lib|helpers?|misc|shared)$/.test(name))).toEqual([]);
});

test('no comment is wider than 110 columns: the formatter wraps none', () => {
  const files = [...src, ...adapters, ...filesIn('examples'), ...filesIn('test')];
  const tooWide = files.flatMap((file) =>
    readFileSync(join(root, file), 'utf8')
      .split('\n')
      .flatMap((line, index) =>
        /^\s*(\/\/|\/?\*)/.test(line) && line.length > 110 ? `${file}:${index + 1}` : [],
      ),
  );
  expect(tooWide).toEqual([]);
});
