import type { AttemptInfo, LetterContent } from '../../dead-letters/letter-operations.ts';
import { handlingId } from '../../dedupe/claim-id.ts';
import { type Answer, accept, type Refused } from '../../outcomes/outcome.ts';
import { keyOfMembers } from '../../provider/event-identity.ts';
import { performance } from '../../timing/process-clock.ts';
import { settledWithin } from '../../timing/time-limit.ts';
import { EventLetter } from '../letters/event-letter.ts';
import type { Arrival } from './arrival.ts';
import type { ReceiverServices } from './receiver-services.ts';

/**
 * Parks an event that is refused without a run. Without dead letters, or if they fail, it stays refused. It
 * is a duplicate if the store knows that it was handled.
 */
export async function parkRefused(
  services: ReceiverServices,
  refused: Refused,
  content: LetterContent,
  { deadline, warnings }: Arrival,
  attemptInfo: AttemptInfo = { attempts: 0, handled: [] },
): Promise<Answer> {
  const { error } = refused;
  const lookMs = deadline.answerOrParkBy - performance.now();
  const { id } = content.event;
  const key = keyOfMembers(services.settings.provider, content.event);
  if (id !== undefined && key !== undefined && (await isKnownAsHandled(services, handlingId(key), lookMs)))
    return accept('duplicate', id);
  if (services.letters === undefined) return refused;
  const letter = new EventLetter(services.letters, content, deadline, warnings);
  const storedAs = await letter.store(error, attemptInfo, deadline.letterBy);
  if (storedAs === undefined) return refused;
  if (key !== undefined) void letter.removeIfCompleted({ key }, services);
  return accept('parked', id ?? storedAs, error);
}

/**
 * Asks the store for `limitMs` at most, because the dead letter must be stored in time. It does not wait for
 * a connection, because the body is not counted.
 */
async function isKnownAsHandled(
  { completions, store }: ReceiverServices,
  claimId: string,
  limitMs: number,
): Promise<boolean> {
  if (completions.has(claimId)) return true;
  try {
    const found = Promise.resolve(store.lookUp({ id: claimId, waitMs: 0 }));
    return (await settledWithin(found, limitMs))?.state === 'completed';
  } catch {
    return false;
  }
}
