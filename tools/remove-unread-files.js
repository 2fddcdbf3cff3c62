// @ts-check
// The last step of `npm run build`: removes the declarations (.d.ts) that no export of the package leads to,
// and copies the others to dist/cjs. No editor and no compiler of a user can reach the removed ones, and they
// were a third of the files in the tarball. Both builds have the same declarations, so one compilation writes
// them, and the other can leave out comments, which nobody reads twice.

import { copyFileSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** `from './a.ts'`, `import './a.js'` and so on: whatever a declaration can name a file of ours in. */
const IMPORT = /(?<=['"])(\.\.?\/[^'"\s]+)\.[jt]s(?=['"])/g;

/** Of the build for `import`. @returns {string[]} */
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
  for (const [, target = ''] of readFileSync(path, 'utf8').matchAll(IMPORT)) {
    follow(join(dirname(path), `${target}.d.ts`), found);
  }
}

/** @type {Set<string>} */
const wanted = new Set();
for (const path of exportedDeclarations()) follow(path, wanted);

for (const folder of ['src', 'adapters']) {
  const names = readdirSync(join(root, 'dist', folder), { recursive: true, encoding: 'utf8' });
  for (const name of names.filter((each) => each.endsWith('.d.ts'))) {
    const path = join(root, 'dist', folder, name);
    if (wanted.has(path)) copyFileSync(path, join(root, 'dist', 'cjs', folder, name));
    else rmSync(path);
  }
}
