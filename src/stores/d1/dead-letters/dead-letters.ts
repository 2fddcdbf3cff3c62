import type { DeadLetters } from '../../../receiver/dead-letters/dead-letters.ts';
import { toKey } from '../../../receiver/dedupe/store.ts';
import { DeadLetterError } from '../../../receiver/errors.ts';
import { checkOptions, readDuration, readScope } from '../../../receiver/values/check-options.ts';
import { messageOf, propertyOf } from '../../../receiver/values/foreign-values.ts';
import { createOrderedList, readStoredLetter, type StoredLetter } from '../../kit/ordered-list.ts';
import { limitFromNow, retryInTime } from '../../kit/retry-in-time.ts';
import { serializeLetter } from '../../kit/serialized-letter.ts';
import { ServerClock } from '../../kit/server-clock.ts';
import {
  countLetters,
  FORGET_REMOVED,
  getLetter,
  nextLetter,
  putLetter,
  removeLetter,
} from '../../sqlite/dead-letters/statements.ts';
import type { SqlStatement } from '../../sqlite/statement.ts';
import { checkBinding, type D1Binding, runBatch } from '../client.ts';
import { d1Failures } from '../errors.ts';
import { runInTime } from '../latest-time.ts';
import { TablesVersion } from '../tables-version.ts';
import { getParts, joinParts, putParts, removeParts, splitText } from './letter-parts.ts';

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
 * Keeps dead letters in D1. They do not expire. A letter that is too long for a row is split; if a part of it
 * is missing, it is refused (`dead_letter_unreadable`). A write that arrives after its time limit does
 * nothing. `list` can continue `after` a letter that was removed within the last day. `d1Migration` has the
 * tables; on those of an earlier version letters work too, and `console.error` says once what to run.
 * Operations reject with DeadLetterError.
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

  const { read, write } = createOperations(binding, scope, commandTimeoutMs);
  const tables = new TablesVersion(binding);
  return {
    async put(letter) {
      const key = toKey(letter.id);
      const text = serializeLetter(letter);
      const parts = splitText(text);
      const row = { parkedAt: letter.parkedAt, text: parts.length === 0 ? text : '' };
      await write(async () => [
        putLetter(scope, key, row),
        removeParts(scope, key),
        ...putParts(scope, key, parts, await tables.isCurrent()),
      ]);
    },

    async get(id) {
      const found = await readLetter(read, scope, toKey(id));
      return found === undefined ? undefined : readStoredLetter('D1', id, found.text, found.damage);
    },

    async remove(id) {
      const key = toKey(id);
      const statements = [removeLetter(scope, key), removeParts(scope, key), FORGET_REMOVED];
      const [[removed] = []] = await write(async () => statements);
      return removed !== undefined;
    },

    list: createOrderedList('D1', (last, lastPlace) => readNext(read, scope, last, lastPlace)),

    async count({ limit }) {
      const [[row] = []] = await read(countLetters(scope, limit));
      return Number(propertyOf(row, 'count'));
    },
  };
}

/** Resolves with the rows of each statement. */
type Rows = Promise<readonly (readonly unknown[])[]>;

/** Runs statements in one transaction. */
type Read = (...statements: SqlStatement[]) => Rows;

/** Runs statements in one transaction, which does nothing once its caller has given up. */
type Write = (prepare: () => Promise<readonly SqlStatement[]>) => Rows;

function createOperations(
  binding: D1Binding,
  scope: string,
  limitMs: number,
): { readonly read: Read; readonly write: Write } {
  const clock = new ServerClock(limitMs);
  const inTime = async (work: (endsAt: number) => Rows): Rows => {
    try {
      const limit = limitFromNow(limitMs);
      return await retryInTime(limit, d1Failures, () => work(limit.endsAt));
    } catch (cause) {
      const message = `the dead letters of ${scope} in D1 failed: ${messageOf(cause)}`;
      throw new DeadLetterError('dead_letters_unavailable', message, { cause });
    }
  };
  return {
    read: (...statements) => inTime(() => runBatch(binding, statements)),
    write: (prepare) => inTime(async (endsAt) => runInTime(binding, clock, endsAt, await prepare())),
  };
}

/** A letter and its parts are read in one transaction: it is whole even if another one takes its place. */
async function readLetter(read: Read, scope: string, key: string): Promise<StoredLetter | undefined> {
  const [[row] = [], parts = []] = await read(getLetter(scope, key), getParts(scope, key));
  if (row === undefined) return undefined;
  const found = toStoredLetter(row);
  return found.text === '' ? { ...found, ...joinParts(parts) } : found;
}

async function readNext(
  read: Read,
  scope: string,
  last: string,
  lastPlace: string,
): Promise<StoredLetter | undefined> {
  const [[row] = []] = await read(nextLetter(scope, last, lastPlace));
  if (row === undefined) return undefined;
  const found = toStoredLetter(row);
  if (found.text !== '') return found;
  return (await readLetter(read, scope, found.key)) ?? readNext(read, scope, found.key, found.place);
}

/** The text is empty if it is in parts. */
function toStoredLetter(row: unknown): StoredLetter {
  const text = (name: string): string => String(propertyOf(row, name));
  return { key: text('key'), text: text('letter'), place: text('place') };
}
