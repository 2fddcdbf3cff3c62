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
  // A store would read more at once than the page needs. One more tells that the list goes on.
  const most = isFiltered ? undefined : limit + 1;
  const scan = new LetterScan(deadLetters, after, performance.now() + SEARCH_MS, most);
  const found: DeadLetterSummary[] = [];
  for await (const letter of scan.letters()) {
    if (found.length === limit) break;
    if (isSelected(letter, selection)) found.push(summaryOf(letter));
  }
  return { deadLetters: found, after: scan.next?.after, unreadable: scan.unreadable };
}

/** Dead letters without `summaries` list whole ones. */
export function summaryOf(letter: DeadLetterSummary): DeadLetterSummary {
  const { id, eventId, provider, account, type, reason, message } = letter;
  const { receivedAt, parkedAt, lastTriedAt, attempts, handled, runningUntil } = letter;
  const times = { receivedAt, parkedAt, lastTriedAt, runningUntil };
  const shownMessage = shorten(message, MAX_MESSAGE_LENGTH);
  return { id, eventId, provider, account, type, reason, message: shownMessage, ...times, attempts, handled };
}
