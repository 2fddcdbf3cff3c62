import type { DeadLetter } from '../../dead-letters/dead-letters.ts';
import { enqueueingId, handlingId } from '../../dedupe/claim-id.ts';
import { isHeld } from '../../dedupe/lease.ts';
import { retentionFor } from '../../dedupe/retention.ts';
import { readHeaders } from '../../request/headers.ts';
import { ParkedLetter } from '../letters/parked-letter.ts';
import { type HeldId, holdEvent } from './hold-id.ts';
import { parseEvent } from './read-event.ts';
import type { ReceiverServices } from './receiver-services.ts';

/**
 * Drops a parked event: completes it without its handlers, and removes its dead letter. Resolves with false
 * if the event was handled, is being handled, or does not have a dead letter any more. No handler begins
 * while the drop has its claim, so either the drop or a replay gets the event. If the store fails, rejects
 * and leaves the dead letter.
 */
export async function drop(services: ReceiverServices, letter: DeadLetter): Promise<boolean> {
  const parked = new ParkedLetter(letter, services, 'drop()');
  if (parked.isRunning || !(await parked.isStillParked())) return false;
  const createdAtMs = createdAtOf(letter, services.settings);
  const claims: HeldId[] = [];
  let isDropped = false;
  try {
    // With a queue, the run before the answer has an id of its own.
    if (services.settings.queue !== undefined) {
      const enqueueing = await holdEvent(services, { claimId: enqueueingId(letter.id), createdAtMs });
      if (enqueueing.state === 'busy') return false;
      if (enqueueing.state === 'claimed') claims.push(enqueueing);
    }
    const found = await holdEvent(services, { claimId: handlingId(letter.id), createdAtMs });
    if (found.state === 'claimed') claims.push(found);
    // Until the claim, another process could replay or drop the dead letter, or begin a last attempt.
    const mayDrop = found.state === 'claimed' && (await parked.isStillParked()) && (await areHeld(claims));
    if (mayDrop) await complete(services, letter.id, createdAtMs);
    isDropped = mayDrop;
    if (isDropped || found.state === 'completed') await parked.remove();
    return isDropped;
  } finally {
    for (const { lease } of claims) lease.stop();
    if (!isDropped) for (const { claim } of claims) await claim.release([]);
  }
}

async function areHeld(claims: readonly HeldId[]): Promise<boolean> {
  for (const { lease } of claims) if (!(await isHeld(lease))) return false;
  return true;
}

/** Completes the enqueueing first: until the handling is completed too, the dead letter can be replayed. */
async function complete(
  { settings, store }: ReceiverServices,
  key: string,
  createdAtMs: number | undefined,
): Promise<void> {
  // A completion counts with any token.
  const request = { token: 'dropped', retentionMs: retentionFor(createdAtMs, settings) };
  if (settings.queue !== undefined) await store.complete({ id: enqueueingId(key), ...request });
  await store.complete({ id: handlingId(key), ...request });
}

/** A body that is not an event has no time of creation, so its id is remembered for `retentionMs`. */
function createdAtOf(
  { account, headers, rawBody }: DeadLetter,
  settings: ReceiverServices['settings'],
): number | undefined {
  try {
    return parseEvent({ rawBody, headers: readHeaders(headers), account }, settings).identity.createdAtMs;
  } catch {
    return undefined;
  }
}
