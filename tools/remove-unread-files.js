// @ts-check
// The last step of `npm run build`: removes what no program, editor or compiler of a user can reach. These are
// declarations (.d.ts) that no export of the package leads to, which were a third of the files in the tarball,
// and modules that only had types, which nothing imports. The other declarations are copied to dist/cjs: both
// builds have the same ones, so the compilation for CommonJS can leave out comments, which nobody reads twice.

import { copyFileSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** `from './a.ts'`, `import './a.js'`, `require("./a.js")`: whatever can name a file of ours. */
const IMPORT = /(?<=['"])(\.\.?\/[^'"\s]+)\.[jt]s(?=['"])/g;

/**
 * The files that a file names, without their endings.
 *
 * @param {string} path
 */
function namedIn(path) {
  const matches = readFileSync(path, 'utf8').matchAll(IMPORT);
  return Array.from(matches, ([, target = '']) => join(dirname(path), target));
}

/**
 * @param {string} folder
 * @param {string} ending
 */
function filesIn(folder, ending) {
  const names = readdirSync(join(root, 'dist', folder), { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith(ending)).map((name) => join(root, 'dist', folder, name));
}

/**
 * The declarations of the build for `import`.
 *
 * @returns {string[]}
 */
function exportedDeclarations() {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return Object.values(exports).flatMap((entry) =>
    entry.import === undefined ? [] : [join(root, entry.import.types)],
  );
}

/**
 * @param {string} path
 * @param {Set<string>} found
 */
function follow(path, found) {
  if (found.has(path)) return;
  found.add(path);
  for (const target of namedIn(path)) follow(`${target}.d.ts`, found);
}

function keepExportedDeclarations() {
  /** @type {Set<string>} */
  const wanted = new Set();
  for (const path of exportedDeclarations()) follow(path, wanted);
  const sources = join(root, 'dist');
  for (const path of ['src', 'adapters'].flatMap((folder) => filesIn(folder, '.d.ts'))) {
    if (wanted.has(path)) copyFileSync(path, path.replace(sources, join(sources, 'cjs')));
    else rmSync(path);
  }
}

/** Lines that the compiler leaves of a module that had only types, beside comments. */
const WITHOUT_CODE = new Set([
  '',
  '"use strict";',
  'Object.defineProperty(exports, "__esModule", { value: true });',
  'export {};',
]);

/** @param {string} path */
function hasCode(path) {
  const text = readFileSync(path, 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
  return text.split('\n').some((line) => !WITHOUT_CODE.has(line.trim()));
}

function removeModulesWithoutCode() {
  const modules = ['src', 'adapters', 'cjs/src', 'cjs/adapters'].flatMap((folder) => filesIn(folder, '.js'));
  const named = new Set(modules.flatMap(namedIn));
  for (const path of modules) {
    const isNamed = named.has(path.replace(/\.js$/, ''));
    if (!isNamed && !hasCode(path)) rmSync(path);
  }
}

keepExportedDeclarations();
removeModulesWithoutCode();
