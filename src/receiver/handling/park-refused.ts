import type { AttemptInfo, LetterContent } from '../dead-letters/letter-operations.ts';
import { type Answer, accept, type Refused } from '../outcomes/outcome.ts';
import type { DeliveryProgress } from './delivery-progress.ts';
import { EventLetter } from './event-letter.ts';
import type { ReceiverServices } from './receiver-services.ts';

/**
 * Parks an event that is refused without a run. It stays refused if there are no dead letters, or if they
 * fail.
 */
export async function parkRefused(
  services: ReceiverServices,
  refused: Refused,
  { rawBody, headers, receivedAt }: Pick<LetterContent, 'rawBody' | 'headers' | 'receivedAt'>,
  progress: DeliveryProgress,
  attemptInfo: AttemptInfo = { attempts: 0, handled: [] },
): Promise<Answer> {
  const { error } = refused;
  const { deadline, event: { id: eventId, type } = {} } = progress;
  const content = { rawBody, headers, receivedAt, id: eventId, type };
  if (services.letters === undefined) return refused;
  const letter = new EventLetter(services.letters, content, deadline, progress.warnings);
  const id = await letter.store(error, attemptInfo, deadline.letterBy);
  if (id === undefined) return refused;
  // Without an age, the id is remembered for `retentionMs`.
  const createdAt = Number.NEGATIVE_INFINITY;
  if (eventId !== undefined) void letter.removeIfCompleted({ id: eventId, createdAt }, services);
  return accept('parked', id, error);
}
