// @ts-check
// `npm run build`: compiles dist/, as ESM and in dist/cjs as CommonJS. With `--if-changed` it does so only if
// what it is made from, or what it was made to, has changed since.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

const SOURCES = [
  ...['src', 'adapters', 'tools/build.js', 'tools/remove-unread-files.js'],
  // An example with a package.json is a project of its own, and is not compiled here.
  ...readdirSync(join(root, 'examples'))
    .filter((name) => !existsSync(join(root, 'examples', name, 'package.json')))
    .map((name) => `examples/${name}`),
  // The compiler, and the types of packages.
  ...['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.commonjs.json'],
];
/** Tests write into other folders of dist/. */
const BUILT = ['dist/src', 'dist/adapters', 'dist/examples', 'dist/cjs'];
/** Has the digests of both, and is not packed. */
const MARK = join(root, 'dist', '.built');

/** Of the names and the contents of files, and of all files in folders. */
function digestOf(/** @type {readonly string[]} */ paths) {
  const digest = createHash('sha256');
  for (const path of paths.flatMap(filesOf)) {
    const content = readFileSync(join(root, path));
    digest.update(`${path} ${content.length}\n`).update(content);
  }
  return digest.digest('hex');
}

/** @returns {string[]} */
function filesOf(/** @type {string} */ path) {
  if (!existsSync(join(root, path))) return [];
  if (statSync(join(root, path)).isFile()) return [path];
  return readdirSync(join(root, path), { withFileTypes: true })
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const inside = `${path}/${entry.name}`;
      if (entry.isDirectory()) return filesOf(inside);
      return entry.isFile() ? [inside] : [];
    });
}

const digests = () => `${digestOf(SOURCES)}\n${digestOf(BUILT)}\n`;

/** Runs a program of Node.js; its failure ends the build. */
function run(/** @type {readonly string[]} */ ...args) {
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

function build() {
  const compiler = join('node_modules', 'typescript', 'bin', 'tsc');
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  run(compiler, '-p', 'tsconfig.json');
  // The first compilation has checked the types.
  run(compiler, '-p', 'tsconfig.commonjs.json', '--noCheck');
  writeFileSync(join(root, 'dist', 'cjs', 'package.json'), JSON.stringify({ type: 'commonjs' }));
  run(join('tools', 'remove-unread-files.js'));
  writeFileSync(MARK, digests());
}

const isBuilt = () => existsSync(MARK) && readFileSync(MARK, 'utf8') === digests();
if (!process.argv.includes('--if-changed') || !isBuilt()) build();
