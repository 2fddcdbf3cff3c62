import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../support/child-program.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { bundleInto, type FollowedDelivery, follow, LAST_AGE_MS } from './followed-event/follow.ts';
import type { Followed } from './followed-event/note-calls.ts';

const PAGE = 'docs/how-it-works.md';
const SOURCE = 'src/receiver/handling/ways-in/deliver.ts';
const COMMAND = 'UPDATE_WAYS=1 npx vitest run --project quick test/docs/followed-event.test.ts';

/** The rows of a table. Those with which `shown` begins as well are one row. */
function rowsOf({ functions }: FollowedDelivery, shown: readonly Followed[], where: string): string[] {
  const differing = functions.findIndex((one, index) => one !== shown[index]);
  const same = differing === -1 ? functions.length : differing;
  const rows = functions
    .map(({ file, name, does }, index) => `| ${index + 1} | \`${file}\` | \`${name}\` | ${does} |`)
    .slice(same);
  return same === 0 ? rows : [`| 1 to ${same} | ${where} | | |`, ...rows];
}

const tableOf = (rows: readonly string[]): string =>
  ['', '| | file | function | what it does |', '| --- | --- | --- | --- |', ...rows, '', ''].join('\n');

/** The comment at the beginning of the source: what comes after authentication and before the report. */
function commentOf(functions: readonly Followed[]): string {
  const begins = functions.findLastIndex(({ file }) => file.includes('/authentication/')) + 1;
  const ends = functions.findIndex(({ file }) => file.includes('/outcomes/'));
  const own = functions.slice(begins, ends);
  const width = Math.max(...own.map(({ name }) => name.length)) + 2;
  return own
    .map(({ name, file }) => `//   ${name.padEnd(width)}${file.replace(/^src\/(receiver\/)?/, '')}\n`)
    .join('');
}

/** Replaces what the pattern finds in a file; without the variable, expects that it is there already. */
function expectIn(path: string, pattern: RegExp, written: string): void {
  const file = join(packageRoot, path);
  const text = readFileSync(file, 'utf8');
  expect(text, `${path} has no place for it`).toMatch(pattern);
  const updated = text.replace(pattern, () => written);
  if (process.env.UPDATE_WAYS !== undefined) writeFileSync(file, updated);
  else expect(text, `to write ${path} anew: ${COMMAND}`).toBe(updated);
}

test('the ways of an event are those that the page and the source tell', async () => {
  const bundle = await bundleInto(temporaryDirectory());
  const [[success], [crash, retry], [parked]] = await Promise.all([
    follow(bundle, ['succeeds'], { ageMs: 0 }),
    follow(bundle, ['crashes', 'succeeds'], { ageMs: 0 }),
    follow(bundle, ['fails'], { ageMs: LAST_AGE_MS }),
  ]);
  expect.assert(success && crash && retry && parked);
  expect(success.answer).toContain('"outcome":"processed"');
  expect(crash.answer).toBeUndefined();
  expect(retry.answer).toContain('"outcome":"processed"');
  expect(parked.answer).toContain('"outcome":"parked"');
  expect(crash.functions.at(-1)?.name).toBe('the handler');
  const shown = success.functions;
  const ways = {
    success: rowsOf(success, [], ''),
    crash: [
      ...rowsOf(crash, shown, 'as above, and then the process dies'),
      ...rowsOf(retry, shown, 'as above, in the other process'),
    ],
    parked: rowsOf(parked, shown, 'as in the first table'),
  };
  for (const [way, rows] of Object.entries(ways)) {
    const pattern = new RegExp(`(?<=<!-- followed: ${way} -->\n).*?(?=<!-- end -->)`, 's');
    expectIn(PAGE, pattern, tableOf(rows));
  }
  expectIn(SOURCE, /(?<=^(?:\/\/ .*\n)+\/\/\n)(?:\/\/ {3}.*\n)*/, commentOf(shown));
});
