import { LRUCache } from 'lru-cache';
import type { DeadLetter, DeadLetters } from '../../receiver/dead-letters/dead-letters.ts';

/** A dead letter of a list, before it is read. */
export interface ListedLetter<Place, Letter> {
  readonly key: string;
  /** Its place in the order of the dead letters. */
  readonly place: Place;
  /** Resolves with undefined if the dead letter was removed; rejects if it is damaged. */
  readonly read: () => Promise<Letter | undefined>;
}

/**
 * Returns the dead letters after the one with this key and listed place. With an empty key it begins at the
 * first one; the place is undefined if it is not known. The reader wants `limit` of them.
 */
export type LettersAfter<Place, Letter> = (
  key: string,
  place: Place | undefined,
  limit: number,
) => AsyncIterable<ListedLetter<Place, Letter>>;

/** Lists dead letters, or what a list shows of them. */
export type LetterList<Letter> = (options?: Parameters<DeadLetters['list']>[0]) => AsyncIterable<Letter>;

/** Places of dead letters by their keys. */
export type Places<Place extends object | string> = LRUCache<string, Place>;

/** The number of dead letters whose place is remembered, so that a list can continue after a removed one. */
const REMEMBERED_PLACES = 1_000;

/** Creates a memory of places. */
export function createPlaces<Place extends object | string>(): Places<Place> {
  return new LRUCache({ max: REMEMBERED_PLACES });
}

/**
 * Creates `list` of {@link DeadLetters}. `keyOf` returns the key of the dead letter with an id. Lists that
 * share `places` can continue each other.
 */
export function createLetterList<Place extends object | string, Letter = DeadLetter>(
  keyOf: (id: string) => string,
  lettersAfter: LettersAfter<Place, Letter>,
  places: Places<Place> = createPlaces(),
): LetterList<Letter> {
  return async function* list({ after, limit = Number.POSITIVE_INFINITY } = {}) {
    if (!(limit > 0)) return;
    const last = after === undefined ? '' : keyOf(after);
    // The id of a dead letter may be empty too.
    const lastPlace = after === undefined ? undefined : places.get(last);
    const errors: unknown[] = [];
    let count = 0;
    // A dead letter that was removed and parked again is at the end now, so the list continues after its
    // former place.
    for await (const { key, place, read } of lettersAfter(last, lastPlace, limit)) {
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
    // One damaged dead letter must not hide the others, so the error comes after them.
    if (errors.length > 0) throw errors[0];
  };
}
