// @ts-check
// Compares the tag of a release with what its commit says: node tools/release/check-version.js v1.2.3
// It runs before anything is installed.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = new URL('../../', import.meta.url);

/**
 * What has to be corrected before the tag can be published; an empty list if nothing has.
 *
 * @param {string | undefined} tag
 * @param {(path: string) => string} read the text of a file of the repository
 * @returns {readonly string[]}
 */
export function problemsOf(tag, read) {
  const { version } = JSON.parse(read('package.json'));
  const lock = JSON.parse(read('package-lock.json'));
  const [, minor] = /^(\d+\.\d+)\.\d+$/.exec(version) ?? [];
  const heading = read('CHANGELOG.md')
    .split('\n')
    .find((line) => line.startsWith(`## [${version}]`));
  return [
    ...(tag === `v${version}` ? [] : [`the tag is ${tag}, and package.json has the version ${version}`]),
    ...(lock.version === version && lock.packages[''].version === version
      ? []
      : [`package-lock.json has another version than package.json: run npm install --package-lock-only`]),
    ...(heading !== undefined && /\] - \d{4}-\d\d-\d\d$/.test(heading)
      ? []
      : [
          `CHANGELOG.md needs "## [${version}] - " with the day of the release, and has ${heading ?? 'none'}`,
        ]),
    ...(read('SECURITY.md').includes(`| ${minor}.x | yes |`)
      ? []
      : [`SECURITY.md does not say that ${minor}.x gets security fixes`]),
  ];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const problems = problemsOf(process.argv[2], (path) => readFileSync(new URL(path, root), 'utf8'));
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
