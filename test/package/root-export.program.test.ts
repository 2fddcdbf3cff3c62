import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { packageRoot } from '../support/child-program.ts';

/** Prints what every import leads to, in the process that it is registered in. */
const hook = `data:text/javascript,${encodeURIComponent(`
  import { writeSync } from 'node:fs';
  export async function resolve(specifier, context, next) {
    const resolved = await next(specifier, context);
    writeSync(1, resolved.url + '\\n');
    return resolved;
  }`)}`;

/** What the built package loads when a module is imported: addresses of files, and modules of Node.js. */
function loadedBy(specifier: string): string[] {
  const program = `
    import { createRequire, register } from 'node:module';
    register(${JSON.stringify(hook)});
    await import(${JSON.stringify(specifier)});
    // What CommonJS requires passes the hook by.
    const { cache } = createRequire(${JSON.stringify(join(packageRoot, 'package.json'))});
    console.log(Object.keys(cache).join('\\n'));`;
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
    cwd: packageRoot,
    encoding: 'utf8',
  });
  return [...new Set(printed.split('\n').filter((line) => line !== ''))];
}

/** `dist/src/receiver/handling`, `zod` or `node:crypto`. */
function placeOf(loaded: string): string {
  const [, name] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(loaded) ?? [];
  const folder = pathToFileURL(packageRoot).href;
  return (
    name ??
    loaded
      .replace(folder, '')
      .split('/')
      .slice(0, 4)
      .join('/')
      .replace(/\/[^/]+\.js$/, '')
  );
}

/** The declarations that a compiler reads along with a file, and the packages that they name. */
function typesReached(file: string, seen: Set<string> = new Set([file])): readonly string[] {
  const source = readFileSync(join(packageRoot, file), 'utf8').replace(/\/\*[\s\S]*?\*\//g, '');
  for (const [, name = ''] of source.matchAll(/(?:\bfrom |\bimport\(|^import )['"]([^'"]+)/gm)) {
    const target = name.startsWith('.') ? join(dirname(file), name).replace(/\.ts$/, '.d.ts') : name;
    if (seen.has(target)) continue;
    seen.add(target);
    if (name.startsWith('.')) typesReached(target, seen);
  }
  return [...seen];
}

test("import 'posthorn' loads the core, zod and lru-cache: no peer, no program, no sandbox and no node:fs", () => {
  expect([...new Set(loadedBy('posthorn').map(placeOf))].sort()).toEqual([
    'dist/src',
    'dist/src/providers',
    'dist/src/providers/banking-service',
    'dist/src/receiver',
    'dist/src/receiver/authentication',
    'dist/src/receiver/checks',
    'dist/src/receiver/dead-letters',
    'dist/src/receiver/dedupe',
    'dist/src/receiver/events',
    'dist/src/receiver/handling',
    'dist/src/receiver/health',
    'dist/src/receiver/journal',
    'dist/src/receiver/outcomes',
    'dist/src/receiver/provider',
    'dist/src/receiver/queue',
    'dist/src/receiver/request',
    'dist/src/receiver/timing',
    'dist/src/receiver/values',
    'dist/src/stores',
    'dist/src/stores/kit',
    'dist/src/stores/memory',
    'lru-cache',
    'node:buffer',
    'node:crypto',
    'node:diagnostics_channel',
    'node:util',
    'zod',
  ]);
});

test("the types of 'posthorn' name no package, so that a compiler reads none of zod's for them", () => {
  expect(typesReached('dist/src/index.d.ts')).toContain('dist/src/providers/banking-service/event.d.ts');
  expect(typesReached('dist/src/index.d.ts').filter((name) => !name.startsWith('dist/'))).toEqual([]);
});

test("import 'posthorn/fetch' loads no raw-body, and no server, socket or stream of Node.js", () => {
  expect([...new Set(loadedBy('posthorn/fetch').map(placeOf))].sort()).toEqual([
    'dist/adapters',
    'dist/src/receiver',
    'dist/src/receiver/checks',
    'dist/src/receiver/request',
    'dist/src/receiver/timing',
    'dist/src/receiver/values',
    'node:util',
  ]);
});

test("import 'posthorn/logger' loads no logger", () => {
  expect([...new Set(loadedBy('posthorn/logger').map(placeOf))].sort()).toEqual([
    'dist/src/observers/logger',
    'dist/src/receiver',
    'dist/src/receiver/checks',
    'dist/src/receiver/outcomes',
    'dist/src/receiver/provider',
    'dist/src/receiver/timing',
    'dist/src/receiver/values',
    'node:util',
  ]);
});

test("import 'posthorn/operator' loads zod, and neither a framework nor raw-body, which bundlers of Workers cannot resolve", () => {
  const places = loadedBy('posthorn/operator').map(placeOf);
  expect(places).toContain('dist/src/operator');
  const packages = places.filter((place) => !place.startsWith('dist/') && !place.startsWith('node:'));
  expect([...new Set(packages)]).toEqual(['zod']);
});

test("import 'posthorn/bullmq' loads BullMQ, and no client of a server before there is one", () => {
  const places = loadedBy('posthorn/bullmq').map(placeOf);
  expect(places).toEqual(expect.arrayContaining(['dist/src/queues/bullmq', 'bullmq']));
  expect(places.filter((place) => ['pg', 'ioredis', 'redis'].includes(place))).toEqual([]);
});

test("import 'posthorn/nestjs' loads NestJS, and neither of its servers", () => {
  const places = loadedBy('posthorn/nestjs').map(placeOf);
  expect(places).toEqual(expect.arrayContaining(['dist/src/nestjs', '@nestjs/common', '@nestjs/core']));
  const servers = ['express', 'fastify', '@nestjs/platform-express', '@nestjs/platform-fastify'];
  expect(places.filter((place) => servers.includes(place))).toEqual([]);
});

test('the reader of what is loaded sees packages of both kinds, and modules of Node.js', () => {
  const places = loadedBy('posthorn/sandbox').map(placeOf);
  expect(places).toEqual(
    expect.arrayContaining(['dist/src/service/sandbox', 'big.js', 'raw-body', 'bytes', 'node:fs']),
  );
});
