import { LRUCache } from 'lru-cache';
import type { DeadLetter, DeadLetters } from '../../receiver/dead-letters/dead-letters.ts';
import { toKey } from '../../receiver/dedupe/store.ts';
import { DeadLetterError } from '../../receiver/errors.ts';
import { parseLetter } from './serialized-letter.ts';

/** The text of a letter as a server keeps it. */
export interface StoredText {
  /** As `serializeLetter` returns it. */
  readonly text: string;
  /** Why the text is not a whole letter; absent if it is one, as far as the server can tell. */
  readonly damage?: string | undefined;
}

/** A letter as a server keeps it. */
export interface StoredLetter extends StoredText {
  readonly key: string;
  /** Its place in the order of the letters, in a form that only the server's queries need to know. */
  readonly place: string;
}

/**
 * Asks a server for the letter after another one, given by its key and the place where it was seen. Both are
 * empty for the first letter; the place alone is empty if only the key is known.
 */
export type NextLetter = (key: string, place: string) => Promise<StoredLetter | undefined>;

/** For how many letters their place in a list is remembered. */
const REMEMBERED_PLACES = 1_000;

/** Creates `list` of {@link DeadLetters} on a server that is asked for one letter after the other. */
export function createOrderedList(server: string, next: NextLetter): DeadLetters['list'] {
  const places = new LRUCache<string, string>({ max: REMEMBERED_PLACES });
  return async function* list({ after, limit = Number.POSITIVE_INFINITY } = {}) {
    const errors: unknown[] = [];
    const seen = new Set<string>();
    let last = after === undefined ? '' : toKey(after);
    // A letter that was removed and parked again has moved to the end, so the list continues after the place
    // where it was seen.
    let lastPlace = places.get(last) ?? '';
    for (let count = 0; count < limit; ) {
      const found = await next(last, lastPlace);
      if (found === undefined) break;
      last = found.key;
      lastPlace = found.place;
      // A reader may remove each letter and park it again, and the list would never end.
      if (seen.has(last)) continue;
      seen.add(last);
      const letter = tryTo(() => readStoredLetter(server, last, found.text, found.damage), errors);
      if (letter === undefined) continue;
      count += 1;
      places.set(last, lastPlace);
      yield letter;
    }
    // One damaged letter must not hide the others, so the error comes after them.
    if (errors.length > 0) throw errors[0];
  };
}

/** Returns undefined instead of throwing, and adds the error to `errors`. */
function tryTo<T>(read: () => T, errors: unknown[]): T | undefined {
  try {
    return read();
  } catch (error) {
    errors.push(error);
    return undefined;
  }
}

/**
 * Parses the text of a letter; throws DeadLetterError that names the letter and the server. A text with known
 * damage is refused even if it can be parsed.
 */
export function readStoredLetter(server: string, name: string, text: string, damage?: string): DeadLetter {
  try {
    if (damage !== undefined) throw new Error(damage);
    return parseLetter(text);
  } catch (cause) {
    const reason = damage === undefined ? '' : `, because ${damage}`;
    throw new DeadLetterError(
      'dead_letter_unreadable',
      `the dead letter ${JSON.stringify(name)} in ${server} cannot be read${reason}: repair it or remove it by its id`,
      { cause },
    );
  }
}
