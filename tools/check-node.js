// @ts-check
// Runs before the build and the tests. An older Node.js would name a line of some file that it cannot read; this file
// it can read, and it says in a line what is missing.

import { readFileSync } from 'node:fs';

const numbers = (/** @type {string} */ version) => (version.match(/\d+/g) ?? []).map(Number);

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const [major = 0, minor = 0] = numbers(manifest.engines.node);
const [ownMajor = 0, ownMinor = 0] = numbers(process.version);

if (ownMajor < major || (ownMajor === major && ownMinor < minor)) {
  process.stderr.write(
    `posthorn needs Node.js ${major}.${minor} or later, and this is ${process.version}.\n`,
  );
  process.exit(1);
}
