import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../support/child-program.ts';
import type { RedisKey } from './redis-form.ts';

/** The folder that has what each version stores, in a folder each. */
export const FIXTURES: string = join(packageRoot, 'test', 'stored-forms', 'versions');

/** What a version has stored, `elapsedMs` after it was recorded: all times in it are moved to the present. */
export interface Recorded {
  readonly version: string;
  readonly redis: (elapsedMs?: number) => readonly RedisKey[];
  /** The SQL of a database with tables and rows; of versions that have tables. */
  readonly postgres: (elapsedMs?: number) => string;
  readonly hasPostgres: boolean;
  /** The texts of letters by the names of their files. */
  readonly letters: (elapsedMs: number) => ReadonlyMap<string, string>;
  /** The state file of the sandbox. */
  readonly sandbox: () => string;
}

/** What versions have stored, the oldest first. */
export const recorded: readonly Recorded[] = readdirSync(FIXTURES)
  .sort((one, other) => one.localeCompare(other, 'en', { numeric: true }))
  .map(open);

function open(version: string): Recorded {
  const folder = join(FIXTURES, version);
  const read = (...path: string[]): string => readFileSync(join(folder, ...path), 'utf8');
  const { recordedAt } = JSON.parse(read('recorded.json'));
  const moved = (elapsedMs: number, ...path: string[]): string =>
    moveTimes(read(...path), Date.now() - recordedAt - elapsedMs);
  return {
    version,
    redis: (elapsedMs = 0) => JSON.parse(moved(elapsedMs, 'redis.json')),
    postgres: (elapsedMs = 0) => moved(elapsedMs, 'postgres.sql'),
    hasPostgres: existsSync(join(folder, 'postgres.sql')),
    letters: (elapsedMs) =>
      new Map(readdirSync(join(folder, 'letters')).map((name) => [name, moved(elapsedMs, 'letters', name)])),
    sandbox: () => read('sandbox.json'),
  };
}

/**
 * Adds to each time in a text: milliseconds and microseconds since the epoch, and timestamps of PostgreSQL.
 * Whole seconds are added, so fractions of any length stay as they are.
 */
function moveTimes(text: string, ms: number): string {
  const seconds = Math.round(ms / 1_000);
  return text
    .replace(/\b(1[789]\d{8})(\d{3}|\d{6})\b/g, (_, whole, rest) => `${Number(whole) + seconds}${rest}`)
    .replace(/'(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(\.\d+)?\+00'/g, (_, day, time, fraction = '') => {
      const moved = new Date(Date.parse(`${day}T${time}Z`) + seconds * 1_000).toISOString();
      return `'${moved.slice(0, 10)} ${moved.slice(11, 19)}${fraction}+00'`;
    });
}
