import { LRUCache } from 'lru-cache';
import type { DeadLetter, DeadLetters } from '../../receiver/dead-letters/dead-letters.ts';

/** A letter of a list, before it is read. */
export interface ListedLetter<Place> {
  readonly key: string;
  /** Its place in the order of the letters. */
  readonly place: Place;
  /** Resolves with undefined if the letter was removed; rejects if it is damaged. */
  readonly read: () => Promise<DeadLetter | undefined>;
}

/**
 * Returns the letters after another one, given by its key and its place when it was listed. The key is empty
 * for the first letter; the place is undefined if it is not known.
 */
export type LettersAfter<Place> = (
  key: string,
  place: Place | undefined,
) => AsyncIterable<ListedLetter<Place>>;

/** For how many letters their place is remembered: a list can continue after one that is gone. */
const REMEMBERED_PLACES = 1_000;

/** Creates `list` of {@link DeadLetters}. `keyOf` returns the key of the letter with an id. */
export function createLetterList<Place extends object | string>(
  keyOf: (id: string) => string,
  lettersAfter: LettersAfter<Place>,
): DeadLetters['list'] {
  const places = new LRUCache<string, Place>({ max: REMEMBERED_PLACES });
  return async function* list({ after, limit = Number.POSITIVE_INFINITY } = {}) {
    if (!(limit > 0)) return;
    const last = after === undefined ? '' : keyOf(after);
    const errors: unknown[] = [];
    let count = 0;
    // A letter that was removed and parked again has moved to the end, so the list continues after the place
    // that it had before.
    for await (const { key, place, read } of lettersAfter(last, places.get(last))) {
      const letter = await read().catch((error) => {
        errors.push(error);
        return undefined;
      });
      if (letter === undefined) continue;
      count += 1;
      places.set(key, place);
      yield letter;
      if (count >= limit) break;
    }
    // One damaged letter must not hide the others, so the error comes after them.
    if (errors.length > 0) throw errors[0];
  };
}
