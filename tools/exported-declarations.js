// @ts-check
// The last step of `npm run build`: removes the declarations (.d.ts) that no export of the package leads to.
// No editor and no compiler of a user can reach them, and they were a third of the files in the tarball.

import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** `from './a.ts'`, `import './a.js'` and so on: whatever a declaration can name a file of ours in. */
const IMPORT = /(?<=['"])(\.\.?\/[^'"\s]+)\.[jt]s(?=['"])/g;

/** @returns {string[]} */
function exportedDeclarations() {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return Object.values(exports)
    .flatMap((entry) => Object.values(entry))
    .flatMap(({ types }) => (types === undefined ? [] : join(root, types)));
}

/**
 * @param {string} path
 * @param {Set<string>} found
 */
function follow(path, found) {
  if (found.has(path)) return;
  found.add(path);
  for (const [, target = ''] of readFileSync(path, 'utf8').matchAll(IMPORT)) {
    follow(join(dirname(path), `${target}.d.ts`), found);
  }
}

/** @type {Set<string>} */
const wanted = new Set();
for (const path of exportedDeclarations()) follow(path, wanted);

for (const folder of ['dist/src', 'dist/adapters', 'dist/cjs']) {
  for (const name of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
    const path = join(root, folder, name);
    if (path.endsWith('.d.ts') && !wanted.has(path)) rmSync(path);
  }
}
