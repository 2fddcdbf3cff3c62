import type { DeadLetter } from '../../dead-letters/dead-letters.ts';
import type { ClaimedEvent } from '../../dedupe/claim.ts';
import { enqueueingId, handlingId } from '../../dedupe/claim-id.ts';
import { JournalError, UnavailableError } from '../../errors.ts';
import { keyOfRecord } from '../../journal/record.ts';
import type { EventIdentity } from '../../provider/event-identity.ts';
import { performance } from '../../timing/process-clock.ts';
import { withTimeLimit } from '../../timing/time-limit.ts';
import { isInstance, messageOf } from '../../values/foreign-values.ts';
import { hasHandled } from '../handlers/named-handler.ts';
import type { Route } from '../handlers/route.ts';
import { isQueued } from './enqueue.ts';
import { holdEvent } from './hold-id.ts';
import type { ReceiverServices } from './receiver-services.ts';

/**
 * The knowledge about an event before its claim. `unknown`: it was not handled, or that was forgotten.
 * `uncertain`: the store has no `peek`, and nothing may be claimed.
 */
export type EventKnowledge = 'handled' | 'running' | 'uncertain' | 'unknown';

interface AskOptions {
  /** True if a store without `peek` may be asked by a claim, which is released. */
  readonly mayClaim: boolean;
}

/** Asks this process and the store. Rejects if the store fails. */
export async function knowledgeOf(
  services: ReceiverServices,
  { createdAtMs, key }: EventIdentity,
  routes: readonly Route[],
  options: AskOptions,
): Promise<EventKnowledge> {
  // With handlers for workers, the run before the answer has an id of its own.
  const ids = routes.some(isQueued) ? [enqueueingId(key), handlingId(key)] : [handlingId(key)];
  const states: EventKnowledge[] = [];
  for (const claimId of ids) states.push(await stateOf(services, { claimId, createdAtMs }, options));
  if (states.includes('handled')) return 'handled';
  if (states.includes('running')) return 'running';
  return states.includes('uncertain') ? 'uncertain' : 'unknown';
}

async function stateOf(
  services: ReceiverServices,
  event: ClaimedEvent,
  { mayClaim }: AskOptions,
): Promise<EventKnowledge> {
  const { completions, runs, store } = services;
  const { claimId } = event;
  if (completions.has(claimId)) return 'handled';
  if (runs.find(claimId) !== undefined) return 'running';
  const found = await store.lookUp({ id: claimId });
  if (found !== undefined) return found.state === 'completed' ? 'handled' : found.state;
  if (!mayClaim) return 'uncertain';
  const reply = await holdEvent(services, event);
  if (reply.state !== 'claimed') return reply.state === 'completed' ? 'handled' : 'running';
  reply.lease.stop();
  await reply.claim.release([]);
  return 'unknown';
}

/** Resolves with true if each handler has a record of the event in its inbox. Rejects if an inbox fails. */
export async function haveRecords(routes: readonly Route[], key: string): Promise<boolean> {
  try {
    for (const { handle } of routes) if (!(await hasHandled(handle, key))) return false;
    return true;
  } catch (cause) {
    const message = `an inbox did not say whether it has a record of the event: ${messageOf(cause)}`;
    throw new UnavailableError('store_unavailable', message, { cause });
  }
}

/** Resolves with true if the journal has the event as handled. Rejects if the journal fails. */
export async function isHandledInJournal(
  { settings: { deadlineMs, journal } }: Pick<ReceiverServices, 'settings'>,
  key: string,
): Promise<boolean> {
  if (journal === undefined) return false;
  try {
    const late = (): Error => new Error(`it did not answer in ${deadlineMs} ms`);
    const entry = await withTimeLimit(journal.get(key), deadlineMs, late);
    // The id of another sender's event can be the same text as this key.
    if (entry === undefined || keyOfRecord(entry) !== key) return false;
    return entry.outcome === 'processed' || entry.outcome === 'queued';
  } catch (cause) {
    // Several senders gave this text as an id, and it is the key of none of their events.
    if (isInstance(cause, JournalError) && cause.code === 'journal_id_ambiguous') return false;
    const message = `the journal did not say whether it has the event: ${messageOf(cause)}`;
    throw new UnavailableError('store_unavailable', message, { cause });
  }
}

/**
 * Resolves with the dead letter of an event that waits for a replay. One whose event may be running does not
 * count. Rejects if the dead letters fail.
 */
export async function parkedLetter(
  { letters, settings }: ReceiverServices,
  key: string,
): Promise<DeadLetter | undefined> {
  const { deadlineMs, now } = settings;
  // The caller has the body in memory in any case.
  const wait = { answerBy: performance.now() + deadlineMs, isUrgent: false, bodyBytes: 0 };
  try {
    const letter = await letters?.find(key, wait);
    return (letter?.runningUntil ?? 0) > now() ? undefined : letter;
  } catch (cause) {
    const message = `the dead letters did not say whether they have the event: ${messageOf(cause)}`;
    throw new UnavailableError('store_unavailable', message, { cause });
  }
}
