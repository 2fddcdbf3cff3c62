// @ts-check
// The one place that knows where a machine keeps the programs that tests, benchmarks and tools start.

import { spawnSync } from 'node:child_process';
import { accessSync, constants, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Debian keeps the programs of a PostgreSQL outside of PATH, in a folder for each version; so does Homebrew. */
const POSTGRES_FOLDERS = [
  { parent: '/usr/lib/postgresql', version: /^(\d+)$/ },
  { parent: '/opt/homebrew/opt', version: /^postgresql@(\d+)$/ },
  { parent: '/usr/local/opt', version: /^postgresql@(\d+)$/ },
];

/** Debian keeps PgBouncer here, which is not in the PATH of every user. */
const SYSTEM_FOLDER = '/usr/sbin';

const BROWSERS = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'chrome',
];
const MACOS_BROWSERS = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

const HOMEBREW_JAVAS = ['/opt/homebrew/opt/openjdk/bin/java', '/usr/local/opt/openjdk/bin/java'];

/**
 * Where a program lies. PostgreSQL's folders come first, so that all its programs are of one version.
 *
 * @param {string} name
 * @returns {string | undefined}
 */
export function findProgram(name) {
  const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const folders = [...postgresFolders(), ...path, SYSTEM_FOLDER];
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

/**
 * Where a Chromium or a Chrome lies. It is asked for its version: the `chromium-browser` of Ubuntu's package is
 * a script that can only tell its user to install a snap.
 *
 * @returns {string | undefined}
 */
export function findBrowser() {
  const paths = BROWSERS.map((name) => findProgram(name) ?? '');
  return [...paths, ...MACOS_BROWSERS]
    .filter(isExecutable)
    .find((path) => spawnSync(path, ['--version'], { stdio: 'ignore' }).status === 0);
}

/**
 * Where a Java runtime lies. It is asked for its version: macOS has a `java` that can only tell its user to install
 * one, and Homebrew keeps its own outside of PATH.
 *
 * @returns {string | undefined}
 */
export function findJava() {
  const paths = [...HOMEBREW_JAVAS, findProgram('java') ?? ''];
  return paths
    .filter(isExecutable)
    .find((path) => spawnSync(path, ['-version'], { stdio: 'ignore' }).status === 0);
}

/**
 * What to start for a program: its path, or else its name, which the error of the start then names.
 *
 * @param {string} name
 * @returns {string}
 */
export function programPath(name) {
  return findProgram(name) ?? name;
}

/** Those of the newest version first. */
function postgresFolders() {
  return POSTGRES_FOLDERS.flatMap(({ parent, version }) =>
    namesIn(parent)
      .filter((name) => version.test(name))
      .sort((one, other) => Number(version.exec(other)?.[1]) - Number(version.exec(one)?.[1]))
      .map((name) => join(parent, name, 'bin')),
  );
}

function namesIn(/** @type {string} */ folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function isExecutable(/** @type {string} */ path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
