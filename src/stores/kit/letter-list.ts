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

/** The number of dead letters whose place is remembered, so that a list can continue after a removed one. */
const REMEMBERED_PLACES = 1_000;

/** Remembers places of dead letters by their keys. */
export class Places<Place extends object | string> {
  readonly #listed = new LRUCache<string, Place>({ max: REMEMBERED_PLACES });
  /** Apart from the others, which a list of many dead letters pushes out. */
  readonly #ends = new LRUCache<string, Place>({ max: REMEMBERED_PLACES });

  get(key: string): Place | undefined {
    return this.#ends.get(key) ?? this.#listed.get(key);
  }

  /** Remembers a dead letter that was listed. */
  add(key: string, place: Place): void {
    const places = this.#ends.has(key) ? this.#ends : this.#listed;
    places.set(key, place);
  }

  /** Remembers a dead letter at which a reader has stopped: the next list is likely to begin after it. */
  addEnd(key: string, place: Place): void {
    this.#listed.delete(key);
    this.#ends.set(key, place);
  }
}

/**
 * Creates `list` of {@link DeadLetters}. `keyOf` returns the key of the dead letter with an id. Lists that
 * share `places` can continue each other.
 */
export function createLetterList<Place extends object | string, Letter = DeadLetter>(
  keyOf: (id: string) => string,
  lettersAfter: LettersAfter<Place, Letter>,
  places: Places<Place> = new Places(),
): LetterList<Letter> {
  return async function* list({ after, limit = Number.POSITIVE_INFINITY } = {}) {
    if (!(limit > 0)) return;
    const last = after === undefined ? '' : keyOf(after);
    // The id of a dead letter may be empty too.
    const lastPlace = after === undefined ? undefined : places.get(last);
    const errors: unknown[] = [];
    // Two, because a reader may take one more, to know that there is one.
    let ends: readonly Pick<ListedLetter<Place, Letter>, 'key' | 'place'>[] = [];
    let count = 0;
    try {
      // A dead letter that was removed and parked again is at the end now, so the list continues after its
      // former place.
      for await (const { key, place, read } of lettersAfter(last, lastPlace, limit)) {
        const letter = await read().catch((error: unknown) => void errors.push(error));
        if (letter === undefined) continue;
        count += 1;
        places.add(key, place);
        ends = [...ends.slice(-1), { key, place }];
        yield letter;
        if (count >= limit) break;
      }
    } finally {
      for (const { key, place } of ends) places.addEnd(key, place);
    }
    // One damaged dead letter must not hide the others, so the error comes after them.
    if (errors.length > 0) throw errors[0];
  };
}
