import type { DeadLetter } from '../../dead-letters/dead-letters.ts';
import { claimedId } from '../../dedupe/claim.ts';
import { enqueueingId, handlingId } from '../../dedupe/claim-id.ts';
import { isCompleted } from '../../dedupe/is-completed.ts';
import { UnavailableError } from '../../errors.ts';
import type { Warning } from '../../outcomes/report.ts';
import type { EventIdentity } from '../../provider/event-identity.ts';
import { performance } from '../../timing/process-clock.ts';
import { messageOf } from '../../values/foreign-values.ts';
import { hasHandled } from '../handlers/named-handler.ts';
import type { Route } from '../handlers/route.ts';
import { isQueued } from './enqueue.ts';
import type { ReceiverServices } from './receiver-services.ts';

/**
 * What is known of an event before its claim. `unknown`: it was not handled, or that was forgotten.
 * `uncertain`: the store has no `peek`, and nothing may be claimed.
 */
export type EventKnowledge = 'handled' | 'running' | 'uncertain' | 'unknown';

/**
 * How the store may be asked. With `mayClaim`, a store without `peek` is asked by a claim, which is released.
 */
interface AskOptions {
  readonly mayClaim: boolean;
}

/** Asks this process, the store, and the inboxes of the handlers. Rejects if one of them fails. */
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
  if (await haveHandled(routes, key)) return 'handled';
  return states.includes('uncertain') ? 'uncertain' : 'unknown';
}

async function stateOf(
  services: ReceiverServices,
  event: Parameters<typeof claimedId>[0],
  { mayClaim }: AskOptions,
): Promise<EventKnowledge> {
  const { completions, runs, settings, store } = services;
  const { claimId } = event;
  if (completions.has(claimId)) return 'handled';
  if (runs.find(claimId) !== undefined) return 'running';
  const found = await store.lookUp({ id: claimId });
  if (found !== undefined) return found.state === 'completed' ? 'handled' : found.state;
  if (!mayClaim) return 'uncertain';
  return (await isCompleted(claimedId(event, settings), services)) ? 'handled' : 'unknown';
}

/** Resolves with true if each handler has a record of the event in its inbox. */
async function haveHandled(routes: readonly Route[], key: string): Promise<boolean> {
  try {
    for (const { handle } of routes) if (!(await hasHandled(handle, key))) return false;
    return true;
  } catch (cause) {
    const message = `an inbox did not say whether it has a record of the event: ${messageOf(cause)}`;
    throw new UnavailableError('store_unavailable', message, { cause });
  }
}

/**
 * Resolves with the dead letter of an event that waits for a replay. One whose event may be running does not
 * count. A failure becomes a warning.
 */
export async function parkedLetter(
  { letters, settings }: ReceiverServices,
  key: string,
  warnings: Warning[],
): Promise<DeadLetter | undefined> {
  const { deadlineMs, now } = settings;
  // The caller has the body in memory in any case.
  const wait = { answerBy: performance.now() + deadlineMs, isUrgent: false, bodyBytes: 0 };
  try {
    const letter = await letters?.find(key, wait);
    return (letter?.runningUntil ?? 0) > now() ? undefined : letter;
  } catch (error) {
    warnings.push(`dead_letter_not_read: ${messageOf(error)}`);
    return undefined;
  }
}
