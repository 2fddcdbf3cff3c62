import type { DeadLetter } from '../../receiver/dead-letters/dead-letters.ts';
import { toKey } from '../../receiver/dedupe/store.ts';
import { DeadLetterError } from '../../receiver/errors.ts';
import { createLetterList, type LetterList, type Places } from './letter-list.ts';
import { NewerLetterError, parseLetter } from './serialized-letter.ts';

/** The text of a dead letter as a server keeps it. */
export interface StoredText {
  /** As `serializeLetter` returns it. */
  readonly text: string;
  /** The reason why the text is not a whole dead letter, if the server knows that. */
  readonly damage?: string | undefined;
}

/** A dead letter among others of a server. */
export interface PlacedLetter {
  readonly key: string;
  /** Its place in the order of the dead letters, in a form that only the server's queries need to know. */
  readonly place: string;
}

/** A dead letter as a server keeps it. */
export interface StoredLetter extends StoredText, PlacedLetter {}

/** The head of a dead letter as a server keeps it. */
export interface StoredHead extends PlacedLetter {
  /** The text in front of `BODY_MARK`; empty if that is not within `LONGEST_HEAD` characters. */
  readonly head: string;
  /** The reason why the dead letter cannot be read, if the server knows that. */
  readonly damage?: string | undefined;
}

/**
 * Asks a server for the dead letter after the one with this key and listed place. Both are empty to ask for
 * the first one; only the place is empty if it is not known.
 */
export type NextLetter = (key: string, place: string) => Promise<StoredLetter | undefined>;

/** Asks as {@link NextLetter} does, for the heads of at most `most` dead letters. */
export type NextHeads = (key: string, place: string, most: number) => Promise<readonly StoredHead[]>;

/** The most dead letters for which a server is asked at once: it must answer well within its time limit. */
const MOST_AT_ONCE = 100;

/** Creates a list of a server that is asked for some dead letters, and then for those after the last one. */
export function createOrderedList<Found extends PlacedLetter, Letter>(
  next: (key: string, place: string, most: number) => Promise<readonly Found[]>,
  read: (found: Found) => Promise<Letter | undefined>,
  places: Places<string>,
): LetterList<Letter> {
  return createLetterList(
    toKey,
    async function* (lastKey, lastPlace = '', limit) {
      const most = Math.ceil(Math.min(limit, MOST_AT_ONCE));
      const seen = new Set<string>();
      let found = await next(lastKey, lastPlace, most);
      for (let last = found.at(-1); last !== undefined; last = found.at(-1)) {
        // If the reader removes each dead letter and parks it again, the list would never end.
        for (const letter of found.filter(({ key }) => !seen.has(key))) {
          seen.add(letter.key);
          yield { key: letter.key, place: letter.place, read: () => read(letter) };
        }
        found = await next(last.key, last.place, most);
      }
    },
    places,
  );
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
