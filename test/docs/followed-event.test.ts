import { expect, test } from 'vitest';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { bundleInto, type FollowedDelivery, follow, LAST_AGE_MS } from './followed-event/follow.ts';
import type { Followed } from './followed-event/note-calls.ts';
import { expectWritten, partNamed, tableOf } from './written-part.ts';

const PAGE = 'test/docs/followed-event/README.md';
const SOURCE = 'src/receiver/handling/ways-in/deliver.ts';
const HEAD = ['', 'file', 'function', 'what it does'];

/** The rows of a table. Those with which `shown` begins as well are one row. */
function rowsOf({ functions }: FollowedDelivery, shown: readonly Followed[], where: string): string[][] {
  const differing = functions.findIndex((one, index) => one !== shown[index]);
  const same = differing === -1 ? functions.length : differing;
  const rows = functions
    .map(({ file, name, does }, index) => [String(index + 1), `\`${file}\``, `\`${name}\``, does])
    .slice(same);
  return same === 0 ? rows : [[`1 to ${same}`, where, '', ''], ...rows];
}

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
    expectWritten(PAGE, partNamed(`followed: ${way}`), tableOf(HEAD, rows));
  }
  expectWritten(SOURCE, /(?<=^(?:\/\/ .*\n)+\/\/\n)(?:\/\/ {3}.*\n)*/, commentOf(shown));
});
