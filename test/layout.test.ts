import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

const root = fileURLToPath(new URL('..', import.meta.url));

interface Import {
  /** A path from the root for a file of ours, else the name of a package. */
  readonly target: string;
  /** Erased by the compiler. */
  readonly typeOnly: boolean;
}

function filesIn(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
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
    target: name.startsWith('.') ? relative(root, join(root, dirname(file), name)) : name,
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

function importing(files: readonly string[], allowed: (target: string, file: string) => boolean): string[] {
  return files.flatMap((file) =>
    ours(file)
      .filter((target) => !allowed(target, file))
      .map((target) => `${file} imports ${target}`),
  );
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

const OUTER = ['src/service/', 'src/client/', 'src/sandbox/', 'src/cli/', 'src/testing/'];
const isOuter = (file: string): boolean => OUTER.some((folder) => file.startsWith(folder));
const core = src.filter((file) => !isOuter(file));
const isLeaf = (file: string): boolean => ours(file).length === 0;
/** Needs nothing but leaves, and so drags nothing along. */
const isNearLeaf = (file: string): boolean => ours(file).every(isLeaf);

test('the reader of imports sees what is there', () => {
  expect(src.length).toBeGreaterThan(20);
  expect(ours('src/index.ts')).toContain('src/receiver.ts');
  expect(importsOf('src/dead-letters/file.ts')).toContainEqual({ target: 'node:fs', typeOnly: false });
  expect(importsOf('adapters/express.ts')).toContainEqual({ target: 'src/receiver.ts', typeOnly: true });
  for (const file of [...src, ...adapters]) {
    const source = readFileSync(join(root, file), 'utf8');
    const froms = source.match(/^[^*\n]*(\bfrom '|\bimport\(')/gm) ?? [];
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

  test('the core imports nothing of adapters, service, client, sandbox, cli or testing', () => {
    expect(importing(core, (target) => target.startsWith('src/') && !isOuter(target))).toEqual([]);
  });

  test('adapters import the core and each other; of src, only the command line imports them', () => {
    expect(importing(adapters, (target) => target.startsWith('adapters/') || core.includes(target))).toEqual(
      [],
    );
    const inner = src.filter((file) => !file.startsWith('src/cli/'));
    expect(importing(inner, (target) => target.startsWith('src/'))).toEqual([]);
  });

  for (const folder of ['src/stores/', 'src/dead-letters/']) {
    test(`${folder} imports its own interface, the connection to Redis, leaf modules and what needs only those`, () => {
      const files = src.filter((file) => file.startsWith(folder));
      expect(files.length).toBeGreaterThan(1);
      expect(
        importing(
          files,
          (target) => target.startsWith(folder) || target.startsWith('src/redis/') || isNearLeaf(target),
        ),
      ).toEqual([]);
    });
  }

  test('the interfaces and the errors are leaves', () => {
    for (const file of ['stores/store.ts', 'dead-letters/dead-letters.ts', 'errors.ts', 'delivery.ts']) {
      expect(isLeaf(`src/${file}`), file).toBe(true);
    }
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
    expect(loaded).toContain('src/dedupe/memory.ts');
    expect(loaded.filter((target) => /^(node:)?fs(\/|$)/.test(target))).toEqual([]);
    expect(loaded.filter((target) => packageOf(target) in manifest.peerDependencies)).toEqual([]);
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
