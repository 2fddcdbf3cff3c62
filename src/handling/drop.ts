import type { DeadLetter } from '../dead-letters/dead-letters.ts';
import { Claim } from '../dedupe/claim.ts';
import { enqueueingId, handlingId } from '../dedupe/claim-id.ts';
import { retentionFor } from '../dedupe/retention.ts';
import type { ClaimResult } from '../dedupe/store.ts';
import { createdAtMs, parseEvent } from '../events/event.ts';
import type { Handling } from './handling.ts';
import { ParkedLetter } from './parked-letter.ts';

/**
 * Drops a parked event: completes it without its handlers, and removes its letter. Resolves with false if the
 * event was handled, is being handled, or does not have a letter any more. The letter is read before the id
 * is claimed, because a claim counts as an attempt, and an event without a letter must not be dropped. No
 * handler begins while the claim holds, so either the drop or a replay gets the event. Rejects, and leaves
 * the letter, if the store fails.
 */
export async function drop(handling: Handling, letter: DeadLetter): Promise<boolean> {
  const parked = new ParkedLetter(letter, handling, 'drop()');
  if (parked.isRunning || !(await parked.isStillParked())) return false;
  const createdAt = createdAtOf(letter);
  /** The claims that the store may have granted. */
  const claims: Claim[] = [];
  try {
    // With a queue, the handlers that run before the answer have an id of their own.
    if (handling.settings.queue !== undefined) {
      const enqueueing = await claim(handling, { claimId: enqueueingId(letter.id), createdAt }, claims);
      if (enqueueing === 'busy') return false;
    }
    const handled = await claim(handling, { claimId: handlingId(letter.id), createdAt }, claims);
    // Before the claim, another process may have replayed or dropped the letter, or begun a last attempt.
    const isDropped = handled === 'claimed' && (await parked.isStillParked()) && (await areHeld(claims));
    if (isDropped) await complete(handling, letter.id, createdAt, claims);
    if (isDropped || handled === 'completed') await parked.remove();
    return isDropped;
  } finally {
    for (const open of claims) open.stopRenewing();
    for (const open of claims) await open.release([]);
  }
}

async function claim(
  { completions, runs, settings, store }: Handling,
  event: { readonly claimId: string; readonly createdAt: number },
  claims: Claim[],
): Promise<ClaimResult['state']> {
  if (completions.has(event.claimId)) return 'completed';
  // Finds a run without a claim too, under `onStoreFailure: 'process'`.
  if (runs.find(event.claimId) !== undefined) return 'busy';
  const services = { settings: { ...settings, onStoreFailure: 'reject' as const }, store, completions };
  const made = new Claim(event, services, []);
  claims.push(made);
  const { state } = await made.take();
  if (state === 'claimed') made.startRenewing(() => {});
  else claims.pop();
  return state;
}

async function areHeld(claims: readonly Claim[]): Promise<boolean> {
  for (const open of claims) {
    while (open.isOld) await open.confirm();
    if (open.state !== 'held') return false;
  }
  return true;
}

/** The enqueueing goes first: until the handling is completed too, the letter can be replayed. */
async function complete(
  { settings, store }: Handling,
  id: string,
  createdAt: number,
  claims: Claim[],
): Promise<void> {
  const request = { token: 'dropped', retentionMs: retentionFor(createdAt, settings) };
  if (settings.queue !== undefined) await store.complete({ id: enqueueingId(id), ...request });
  await store.complete({ id: handlingId(id), ...request });
  for (const open of claims.splice(0)) open.stopRenewing();
}

/** A body that is not an event has no age: its id is remembered for `retentionMs`. */
function createdAtOf({ rawBody }: DeadLetter): number {
  try {
    return createdAtMs(parseEvent(rawBody));
  } catch {
    return Number.NEGATIVE_INFINITY;
  }
}
