import type { DeadLetter, DeadLetterSummary, DeadLetters } from '../../receiver/dead-letters/dead-letters.ts';
import { toKey } from '../../receiver/dedupe/store.ts';
import { DeadLetterError } from '../../receiver/errors.ts';
import { messageOf } from '../../receiver/values/foreign-values.ts';
import { Places } from './letter-list.ts';
import {
  createOrderedList,
  type NextHeads,
  type NextLetter,
  readStoredLetter,
  type StoredText,
} from './ordered-list.ts';
import { parseHead, serializeLetter } from './serialized-letter.ts';

/** The operations on the dead letters of one scope. A key is `toKey` of the id of a dead letter. */
export interface LetterOperations {
  /** Stores the text of a dead letter in place of any other one with its key. */
  put(key: string, text: string, parkedAt: number): Promise<void>;
  /** Resolves with the text of a dead letter, if it is there. */
  get(key: string): Promise<StoredText | undefined>;
  /** Resolves with true if the dead letter was there. */
  remove(key: string): Promise<boolean>;
  next: NextLetter;
  /** Resolves with the heads of dead letters, without reading their bodies. */
  heads?: NextHeads;
  /** Counts dead letters up to a limit. */
  count?(limit: number): Promise<number>;
  /** The same as in {@link DeadLetters}. */
  mustWait?(): boolean;
}

/**
 * Creates the {@link DeadLetters} that keep dead letters on a server. If the server fails, their operations
 * reject with DeadLetterError, whose message names the server and the scope.
 */
export function createServerDeadLetters(
  name: string,
  scope: string,
  operations: LetterOperations,
): DeadLetters {
  const ask = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (cause) {
      const message = `the dead letters of ${scope} in ${name} failed: ${messageOf(cause)}`;
      throw new DeadLetterError('dead_letters_unavailable', message, { cause });
    }
  };
  const readWhole = async (key: string, id = key): Promise<DeadLetter | undefined> => {
    const found = await ask(() => operations.get(key));
    return found && readStoredLetter(name, id, found.text, found.damage);
  };
  const places = new Places<string>();
  const heads = operations.heads?.bind(operations);
  const count = operations.count?.bind(operations);
  const mustWait = operations.mustWait?.bind(operations);
  return {
    put: async (letter) => {
      const text = serializeLetter(letter);
      await ask(() => operations.put(toKey(letter.id), text, letter.parkedAt));
    },
    get: (id) => readWhole(toKey(id), id),
    remove: (id) => ask(() => operations.remove(toKey(id))),
    list: createOrderedList(
      async (key, place) => {
        const next = await ask(() => operations.next(key, place));
        return next === undefined ? [] : [next];
      },
      async ({ key, text, damage }) => readStoredLetter(name, key, text, damage),
      places,
    ),
    ...(heads && {
      summaries: createOrderedList(
        (key, place, most) => ask(() => heads(key, place, most)),
        async ({ key, head, damage }) => {
          if (damage !== undefined) return readStoredLetter(name, key, '', damage);
          return parseHead(head) ?? toSummary(await readWhole(key));
        },
        places,
      ),
    }),
    ...(count && { count: ({ limit }) => ask(() => count(limit)) }),
    ...(mustWait && { mustWait }),
  };
}

function toSummary(letter: DeadLetter | undefined): DeadLetterSummary | undefined {
  if (letter === undefined) return undefined;
  const { rawBody, headers, ...summary } = letter;
  return summary;
}
