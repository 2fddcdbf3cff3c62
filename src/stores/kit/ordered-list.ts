import type { DeadLetter, DeadLetters } from '../../receiver/dead-letters/dead-letters.ts';
import { toKey } from '../../receiver/dedupe/store.ts';
import { DeadLetterError } from '../../receiver/errors.ts';
import { createLetterList } from './letter-list.ts';
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
 * Asks a server for the letter after another one, given by its key and its place when it was listed. Both are
 * empty for the first letter; the place alone is empty if only the key is known.
 */
export type NextLetter = (key: string, place: string) => Promise<StoredLetter | undefined>;

/** Creates `list` of {@link DeadLetters} on a server that is asked for one letter after the other. */
export function createOrderedList(server: string, next: NextLetter): DeadLetters['list'] {
  return createLetterList<string>(toKey, async function* (last, lastPlace = '') {
    const seen = new Set<string>();
    let found = await next(last, lastPlace);
    while (found !== undefined) {
      const { key, place, text, damage } = found;
      // A reader may remove each letter and park it again, and the list would never end.
      if (!seen.has(key)) yield { key, place, read: async () => readStoredLetter(server, key, text, damage) };
      seen.add(key);
      found = await next(key, place);
    }
  });
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
