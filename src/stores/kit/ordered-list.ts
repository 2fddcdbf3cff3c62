import type { DeadLetter, DeadLetters } from '../../receiver/dead-letters/dead-letters.ts';
import { toKey } from '../../receiver/dedupe/store.ts';
import { DeadLetterError } from '../../receiver/errors.ts';
import { createLetterList } from './letter-list.ts';
import { NewerLetterError, parseLetter } from './serialized-letter.ts';

/** The text of a dead letter as a server keeps it. */
export interface StoredText {
  /** As `serializeLetter` returns it. */
  readonly text: string;
  /** The reason why the text is not a whole dead letter, if the server knows that. */
  readonly damage?: string | undefined;
}

/** A dead letter as a server keeps it. */
export interface StoredLetter extends StoredText {
  readonly key: string;
  /** Its place in the order of the dead letters, in a form that only the server's queries need to know. */
  readonly place: string;
}

/**
 * Asks a server for the dead letter after the one with this key and listed place. Both are empty to ask for
 * the first one; only the place is empty if it is not known.
 */
export type NextLetter = (key: string, place: string) => Promise<StoredLetter | undefined>;

/** Creates `list` of {@link DeadLetters} on a server that is asked for one dead letter after the other. */
export function createOrderedList(server: string, next: NextLetter): DeadLetters['list'] {
  return createLetterList<string>(toKey, async function* (last, lastPlace = '') {
    const seen = new Set<string>();
    let found = await next(last, lastPlace);
    while (found !== undefined) {
      const { key, place, text, damage } = found;
      // If the reader removes each dead letter and parks it again, the list would never end.
      if (!seen.has(key)) yield { key, place, read: async () => readStoredLetter(server, key, text, damage) };
      seen.add(key);
      found = await next(key, place);
    }
  });
}

/**
 * Parses the text of a dead letter; throws DeadLetterError that names the dead letter and the server. A text
 * with known damage is refused even if it can be parsed.
 */
export function readStoredLetter(server: string, name: string, text: string, damage?: string): DeadLetter {
  try {
    if (damage !== undefined) throw new Error(damage);
    return parseLetter(text);
  } catch (cause) {
    const newer = cause instanceof NewerLetterError ? cause.message : undefined;
    const known = damage ?? newer;
    const reason = known === undefined ? '' : `, because ${known}`;
    const advice = newer === undefined ? 'repair it or remove it by its id' : 'update posthorn';
    throw new DeadLetterError(
      'dead_letter_unreadable',
      `the dead letter ${JSON.stringify(name)} in ${server} cannot be read${reason}: ${advice}`,
      { cause },
    );
  }
}
