import type { DeadLetterSummary, DeadLetters } from '../../receiver/dead-letters/dead-letters.ts';
import { performance } from '../../receiver/timing/process-clock.ts';
import { shorten } from '../../receiver/values/foreign-values.ts';
import { LetterScan } from './letter-scan.ts';
import { isSelected, type LetterSelection } from './selection.ts';

/** A page that few dead letters match ends after this time, perhaps before it is full. */
const SEARCH_MS = 2_000;

/** The most characters of a message in a list. */
const MAX_MESSAGE_LENGTH = 500;

/** The wanted page of a list. */
export interface PageRequest extends LetterSelection {
  /** The id of the dead letter after which the page begins. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** A page of the dead letters. */
export interface LetterPage {
  readonly deadLetters: readonly DeadLetterSummary[];
  /** The id after which the list goes on. Absent at its end. */
  readonly after?: string | undefined;
  /** Names a dead letter that cannot be read. */
  readonly unreadable?: string | undefined;
}

/** Lists dead letters, the oldest first. */
export async function listLetters(
  deadLetters: DeadLetters,
  { after, limit, ...selection }: PageRequest,
): Promise<LetterPage> {
  const isFiltered = Object.values(selection).some((value) => value !== undefined);
  const endsAt = performance.now() + SEARCH_MS;
  const scan = new LetterScan(deadLetters, {
    after,
    isOver: () => performance.now() > endsAt,
    // One more tells whether the list goes on.
    portion: isFiltered ? undefined : limit + 1,
  });
  const found: DeadLetterSummary[] = [];
  for await (const letter of scan.letters()) {
    if (found.length === limit) break;
    if (isSelected(letter, selection))
      found.push({ ...letter, message: shorten(letter.message, MAX_MESSAGE_LENGTH) });
  }
  return { deadLetters: found, after: scan.next?.after, unreadable: scan.unreadable };
}
