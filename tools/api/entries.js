import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * The subpaths of the package that have types.
 *
 * @typedef {object} Entry
 * @property {string} subpath as it is imported: `posthorn/node`
 * @property {string} page the name of its files, without an extension: `node`
 * @property {string} types the absolute path of its built `.d.ts`
 */

/** @type {readonly Entry[]} */
export const entries = Object.entries(JSON.parse(readFileSync(`${root}package.json`, 'utf8')).exports)
  .map(([path, target]) => [path.replace('.', 'posthorn'), (target.import ?? target).types])
  .filter(([, types]) => types !== undefined)
  .map(([subpath, types]) => ({ subpath, page: subpath.replace(/.*\//, ''), types: root + types.slice(2) }));
