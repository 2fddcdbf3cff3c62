import type { DeadLetter, DeadLetters } from '../../receiver/dead-letters/dead-letters.ts';
import { summariesOf } from '../../receiver/dead-letters/summaries.ts';
import { isPosthornError, type PosthornError } from '../../receiver/errors.ts';
import { usageError } from '../failure.ts';

/**
 * Finds the dead letters of events by the ids that their senders gave. Resolves with the ids of the dead
 * letters. Throws a usage error that names the dead letters, if several have the same id of a sender: two
 * senders may give the same ids.
 */
export async function findBySender(
  deadLetters: DeadLetters,
  sendersIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string[]>(sendersIds.map((id) => [id, []]));
  try {
    for await (const { id, eventId } of summariesOf(deadLetters))
      if (eventId !== undefined) found.get(eventId)?.push(id);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
  }
  const ids = new Map<string, string>();
  for (const [eventId, [first, ...others]] of found) {
    if (first === undefined) continue;
    if (others.length > 0) throw ambiguous(eventId, [first, ...others]);
    ids.set(eventId, first);
  }
  return ids;
}

/** Reads the dead letter with this id, or else that of the event to which its sender gave the id. */
export async function findLetter(deadLetters: DeadLetters, id: string): Promise<DeadLetter | undefined> {
  const letter = await deadLetters.get(id);
  if (letter !== undefined) return letter;
  const bySender = (await findBySender(deadLetters, [id])).get(id);
  return bySender === undefined ? undefined : deadLetters.get(bySender);
}

/** Returns true for the error of a damaged dead letter. A list that has passed over one ends with it. */
export function isUnreadable(error: unknown): error is PosthornError {
  return isPosthornError(error) && error.code === 'dead_letter_unreadable';
}

function ambiguous(eventId: string, ids: readonly string[]): Error {
  const names = ids.map((id) => JSON.stringify(id)).join(', ');
  return usageError(
    `${JSON.stringify(eventId)} is the sender's id of ${ids.length} dead letters: give the id of one, ${names}`,
  );
}
