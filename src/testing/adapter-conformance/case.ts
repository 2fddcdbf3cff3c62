import assert from 'node:assert/strict';
import { withTimeLimit } from '../../receiver/timing/time-limit.ts';
import { messageOf } from '../../receiver/values/foreign-values.ts';
import type { CaseWithoutId } from '../conformance-case.ts';
import { Bench } from './bench.ts';
import type { Platform } from './platform.ts';

/** Tries one promise of an adapter; rejects if the adapter breaks it. */
export type Check = (bench: Bench) => Promise<unknown>;

/** Cases that fail for the same mistake of an adapter. */
export interface Group {
  /** The beginning of the names of the cases. */
  readonly name: string;
  /** Advice to the author of the adapter about a failure. */
  readonly advice: string;
  /** By the rest of the name. */
  readonly checks: Readonly<Record<string, Check>>;
}

/** Returns the check of each entry of a table, by the title of the entry. */
export function checksOf<T>(table: Readonly<Record<string, T>>, check: (entry: T) => Check): Group['checks'] {
  return Object.fromEntries(Object.entries(table).map(([title, entry]) => [title, check(entry)]));
}

const CASE_LIMIT_MS = 15_000;
const CLOSE_LIMIT_MS = 3_000;

export function casesOf({ name, advice, checks }: Group, platform: Platform): CaseWithoutId[] {
  return Object.entries(checks).map(([title, check]) => ({
    name: `${name}: ${title}`,
    run: async () => {
      const bench = new Bench(platform);
      const failures: unknown[] = [];
      const attempt = async (promise: Promise<unknown>, limitMs: number): Promise<void> => {
        await withTimeLimit(promise, limitMs, () => late(bench, limitMs)).catch((error: unknown) =>
          failures.push(error),
        );
      };
      await attempt(check(bench), CASE_LIMIT_MS);
      await attempt(bench.close(), CLOSE_LIMIT_MS);
      if (failures.length > 0) throw explained(failures[0], advice);
    },
  }));
}

function late({ waits }: Bench, limitMs: number): Error {
  return new assert.AssertionError({
    message: `the case was not over after ${limitMs / 1_000} seconds; it was waiting for: ${waits}`,
  });
}

function explained(failure: unknown, advice: string): Error {
  const error = new assert.AssertionError({
    message: `${messageOf(failure)}\n${advice}`,
    // A runner of tests may show how they differ.
    ...(failure instanceof assert.AssertionError && { actual: failure.actual, expected: failure.expected }),
  });
  error.cause = failure;
  return error;
}
