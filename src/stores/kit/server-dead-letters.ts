import type { DeadLetters } from '../../receiver/dead-letters/dead-letters.ts';
import { toKey } from '../../receiver/dedupe/store.ts';
import { DeadLetterError } from '../../receiver/errors.ts';
import { messageOf } from '../../receiver/values/foreign-values.ts';
import { createOrderedList, type NextLetter, readStoredLetter, type StoredText } from './ordered-list.ts';
import { serializeLetter } from './serialized-letter.ts';

/** The operations on the dead letters of one scope. A key is `toKey` of the id of a dead letter. */
export interface LetterOperations {
  /** Stores the text of a dead letter in place of any other one with its key. */
  put(key: string, text: string, parkedAt: number): Promise<void>;
  /** Resolves with the text of a dead letter, if it is there. */
  get(key: string): Promise<StoredText | undefined>;
  /** Resolves with true if the dead letter was there. */
  remove(key: string): Promise<boolean>;
  next: NextLetter;
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
  const count = operations.count?.bind(operations);
  const mustWait = operations.mustWait?.bind(operations);
  return {
    put: async (letter) => {
      const text = serializeLetter(letter);
      await ask(() => operations.put(toKey(letter.id), text, letter.parkedAt));
    },
    get: async (id) => {
      const found = await ask(() => operations.get(toKey(id)));
      return found === undefined ? undefined : readStoredLetter(name, id, found.text, found.damage);
    },
    remove: (id) => ask(() => operations.remove(toKey(id))),
    list: createOrderedList(name, (key, place) => ask(() => operations.next(key, place))),
    ...(count && { count: ({ limit }) => ask(() => count(limit)) }),
    ...(mustWait && { mustWait }),
  };
}
