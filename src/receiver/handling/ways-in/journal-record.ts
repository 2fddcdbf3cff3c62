import type { JournalOutcome, JournalRecord } from '../../journal/journal.ts';
import { FINALITY, IMPLIED } from '../../journal/record.ts';
import type { Outcome } from '../../outcomes/outcome.ts';
import { idOfBody } from '../../provider/event-identity.ts';
import { withoutCredentials } from '../../request/headers.ts';
import { performance } from '../../timing/process-clock.ts';
import type { Answered } from './answered.ts';
import type { Arrival } from './arrival.ts';

/** The outcome of the event, by that of a delivery. A duplicate says that the event was handled. */
const EVENT_OUTCOMES: Readonly<Record<Exclude<Outcome, 'handshake'>, JournalOutcome>> = {
  processed: 'processed',
  duplicate: 'processed',
  ignored: 'ignored',
  queued: 'queued',
  parked: 'parked',
  rejected: 'rejected',
  failed: 'failed',
  busy: 'failed',
};

/**
 * Returns what the journal gets of an answer. Undefined for a request that is not authentic or not an event,
 * for a rerun, and for a replay, a job or an accept that changes nothing. `isLate` is true for the end of a
 * run that went on after the answer.
 */
export function recordOf(arrival: Arrival, answered: Answered, isLate: boolean): JournalRecord | undefined {
  const { answer, content, event, followed } = answered;
  if (answer.outcome === 'handshake' || !isRecorded(arrival, answered)) return undefined;
  const id = event?.id ?? (content && idOfBody(content.rawBody));
  if (id === undefined) return undefined;
  const isImplied = isOnlyImplied(answered);
  const run = followed?.joined === false ? followed.run : undefined;
  // Of a duplicate only the number counts: hundreds of deliveries may wait for one run.
  const { rawBody, headers } = (isImplied ? undefined : (run?.input ?? content)) ?? {};
  const outcome = EVENT_OUTCOMES[answer.outcome];
  const { provider, receivedAt, deadline, source } = arrival;
  const account = event?.account;
  const key = provider.keyOf({ id, account });
  const isDelivery = source === 'delivery';
  const cameAt = wholeTime(
    (isDelivery ? undefined : (followed?.run.input ?? content)?.receivedAt) ?? receivedAt,
  );
  return {
    id,
    key: key === id ? undefined : key,
    type: event?.type,
    provider: provider.name,
    account,
    createdAt: event?.createdAtMs,
    firstReceivedAt: cameAt,
    lastReceivedAt: cameAt,
    deliveries: isDelivery && !isLate ? 1 : 0,
    attempts: Math.min(run?.progress.attempt ?? 0, MAX_ATTEMPTS),
    outcome,
    code: answer.error?.code,
    finality: isImplied ? IMPLIED : FINALITY[outcome],
    decidedAt: wholeTime(receivedAt + performance.now() - deadline.startedAt),
    handled: [...(run?.progress.handled ?? [])],
    resource: event?.resource,
    rawBody,
    headers: headers && withoutCredentials(headers),
  };
}

/** The greatest time and number that each journal can store. A job and a dead letter can have any. */
const MAX_TIME_MS = 8.64e15;
const MAX_ATTEMPTS = 2_147_483_647;

function wholeTime(ms: number): number {
  return Math.round(Math.min(Math.max(ms, -MAX_TIME_MS), MAX_TIME_MS));
}

/** True for a delivery that is authentic, and for what else changes the event. */
function isRecorded({ source }: Arrival, answered: Answered): boolean {
  const { answer, content, followed, keyIndex } = answered;
  if (source === 'delivery') return keyIndex !== undefined;
  // A rerun does not change the outcome of its event.
  if (source === 'rerun') return false;
  if (isOnlyImplied(answered)) return false;
  // An accept without a run found the event parked.
  if (answer.outcome === 'parked') return (followed ?? content) !== undefined;
  return followed?.run.progress.attempt !== undefined;
}

/** True if the answer only says what another run made of the event. */
function isOnlyImplied({ answer: { outcome }, followed }: Answered): boolean {
  return outcome === 'duplicate' || outcome === 'busy' || (followed?.joined === true && outcome !== 'parked');
}
