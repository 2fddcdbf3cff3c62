import { checkOptions, readDuration, readScope } from '../check-options.ts';
import type { DeadLetters } from '../dead-letters/dead-letters.ts';
import { createOrderedList, readStoredLetter, type StoredLetter } from '../dead-letters/ordered-list.ts';
import { serializeLetter } from '../dead-letters/serialized-letter.ts';
import { toKey } from '../dedupe/store.ts';
import { DeadLetterError } from '../errors.ts';
import { messageOf, propertyOf } from '../foreign-values.ts';
import {
  FORGET_REMOVED,
  getLetter,
  nextLetter,
  putLetter,
  removeLetter,
} from '../sqlite/dead-letters/statements.ts';
import type { SqlStatement } from '../sqlite/statement.ts';
import { limitFromNow, retryInTime } from '../timing/retry-in-time.ts';
import { checkBinding, type D1Binding, runBatch } from './binding.ts';
import { d1Failures } from './d1-errors.ts';
import { getParts, putPart, removeParts, splitText } from './letter-parts.ts';

/** Options of {@link createD1DeadLetters}. */
export interface D1DeadLettersOptions {
  /**
   * Names the application and its environment: 1 to 64 letters, digits, `.`, `_` or `-`.
   * The D1 store may have the same scope.
   */
  readonly scope: string;
  /**
   * How long one operation may take before it counts as failed, in milliseconds; 5,000 by default. That
   * includes further tries.
   */
  readonly commandTimeoutMs?: number;
}

/**
 * Keeps dead letters in D1. They do not expire. A letter that is too long for a row is split, and is there
 * whole or not at all. `list` can continue `after` a letter that was removed within the last day.
 * `d1Migration` has the tables. Operations reject with DeadLetterError.
 *
 * @throws ConfigurationError if the binding is not a D1 database, and for a wrong or missing option.
 *
 * @example
 * ```ts
 * const deadLetters = createD1DeadLetters(env.DB, { scope: 'billing-production' });
 * const receiver = createReceiver({ signingKey: env.SIGNING_KEY, deadLetters });
 * ```
 */
export function createD1DeadLetters(binding: D1Binding, options: D1DeadLettersOptions): DeadLetters {
  checkBinding('createD1DeadLetters', binding);
  checkOptions(options, ['scope', 'commandTimeoutMs'], 'createD1DeadLetters');
  const { commandTimeoutMs = 5_000 } = options;
  readDuration('commandTimeoutMs', commandTimeoutMs);
  const scope = readScope('createD1DeadLetters', options.scope);

  const run = createRun(binding, scope, commandTimeoutMs);
  return {
    async put(letter) {
      const key = toKey(letter.id);
      const text = serializeLetter(letter);
      const parts = splitText(text);
      await run(
        putLetter(scope, key, { parkedAt: letter.parkedAt, text: parts.length === 0 ? text : '' }),
        removeParts(scope, key),
        ...parts.map((part, index) => putPart(scope, key, index, part)),
      );
    },

    async get(id) {
      const found = await readLetter(run, scope, toKey(id));
      return found === undefined ? undefined : readStoredLetter('D1', id, found.text);
    },

    async remove(id) {
      const key = toKey(id);
      const [[removed] = []] = await run(removeLetter(scope, key), removeParts(scope, key), FORGET_REMOVED);
      return removed !== undefined;
    },

    list: createOrderedList('D1', (last, lastPlace) => readNext(run, scope, last, lastPlace)),
  };
}

/** Runs statements in one transaction, and resolves with the rows of each. */
type Run = (...statements: SqlStatement[]) => Promise<readonly (readonly unknown[])[]>;

function createRun(binding: D1Binding, scope: string, limitMs: number): Run {
  return async (...statements) => {
    try {
      return await retryInTime(limitFromNow(limitMs), d1Failures, () => runBatch(binding, statements));
    } catch (cause) {
      const message = `the dead letters of ${scope} in D1 failed: ${messageOf(cause)}`;
      throw new DeadLetterError('dead_letters_unavailable', message, { cause });
    }
  };
}

/** A letter and its parts are read in one transaction: it is whole even if another one takes its place. */
async function readLetter(run: Run, scope: string, key: string): Promise<StoredLetter | undefined> {
  const [[row] = [], parts = []] = await run(getLetter(scope, key), getParts(scope, key));
  return row === undefined ? undefined : toStoredLetter(row, parts);
}

async function readNext(
  run: Run,
  scope: string,
  last: string,
  lastPlace: string,
): Promise<StoredLetter | undefined> {
  const [[row] = []] = await run(nextLetter(scope, last, lastPlace));
  if (row === undefined) return undefined;
  const found = toStoredLetter(row, []);
  if (found.text !== '') return found;
  return (await readLetter(run, scope, found.key)) ?? readNext(run, scope, found.key, found.place);
}

/** The text of a letter that was split is in its parts. */
function toStoredLetter(row: unknown, parts: readonly unknown[]): StoredLetter {
  const text = [propertyOf(row, 'letter'), ...parts.map((part) => propertyOf(part, 'text'))].join('');
  return { key: String(propertyOf(row, 'key')), text, place: String(propertyOf(row, 'place')) };
}
