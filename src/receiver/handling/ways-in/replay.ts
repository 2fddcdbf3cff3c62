import type { DeadLetter } from '../../dead-letters/dead-letters.ts';
import { enqueueingId, handlingId } from '../../dedupe/claim-id.ts';
import { UnavailableError } from '../../errors.ts';
import { type AcceptedOutcome, type Answer, accept, isSuccess, refuse } from '../../outcomes/outcome.ts';
import type { EventMembers } from '../../provider/event-identity.ts';
import { isReadFailure } from '../../provider/read-failure.ts';
import { readHeaders } from '../../request/headers.ts';
import { messageOf, propertyOf, textOf } from '../../values/foreign-values.ts';
import { ParkedLetter } from '../letters/parked-letter.ts';
import { replayOrigin } from '../run/origin.ts';
import type { RunInput } from '../run/run-input.ts';
import { type Answered, answerTo } from './answered.ts';
import type { Arrival } from './arrival.ts';
import { isQueued } from './enqueue.ts';
import { holdEvent } from './hold-id.ts';
import { parseEvent } from './read-event.ts';
import type { ReceiverServices } from './receiver-services.ts';

/** Runs a parked event, and waits for the end of its handlers. */
export async function replay(
  services: ReceiverServices,
  letter: DeadLetter,
  arrival: Arrival,
): Promise<Answered> {
  const event = membersOf(letter);
  try {
    const parked = new ParkedLetter(letter, services, 'replay()');
    return { event, ...(await runParked(services, parked, arrival)) };
  } catch (error) {
    return { event, answer: refuse(isReadFailure(error) ? error.cause : error) };
  }
}

/** The event of a dead letter, as far as the letter says. */
function membersOf(letter: DeadLetter): EventMembers {
  const account = textOf(propertyOf(letter, 'account'));
  const isIdBare = account === undefined && propertyOf(letter, 'provider') === undefined;
  const sendersId = propertyOf(letter, 'eventId') ?? (isIdBare ? propertyOf(letter, 'id') : undefined);
  return { id: textOf(sendersId), type: textOf(propertyOf(letter, 'type')), account };
}

async function runParked(
  services: ReceiverServices,
  parked: ParkedLetter,
  arrival: Arrival,
): Promise<Answered> {
  const { completions, router, runs, settings } = services;
  const { letter } = parked;
  if (parked.isRunning) throw stillRunning();
  const { account, rawBody, receivedAt } = letter;
  const headers = readHeaders(letter.headers);
  const { event, identity } = parseEvent({ rawBody, headers, account }, settings);
  const { id } = identity;
  arrival.checkNotClosing();
  const routes = router.matchAny(identity.type);
  if (routes.length === 0) return { answer: accept('ignored', id) };
  const claimId = handlingId(identity.key);
  if (completions.has(claimId)) {
    await remove(parked, arrival);
    return { answer: accept('duplicate', id) };
  }
  const times = {
    receivedAt,
    deadlineAt: settings.now() + settings.maxRunMs,
    deadline: arrival.deadline,
  };
  const origin = replayOrigin(letter);
  const input = { identity, claimId, event, rawBody, headers, ...times, routes, origin };
  // If a run of this process has the event, the replay joins it.
  const isExclusive = routes.some(isQueued) && runs.find(claimId) === undefined;
  const run = isExclusive ? runExclusively : runOrJoin;
  return run(services, input, parked, arrival);
}

/**
 * Claims the id of the enqueueing during the run, so that no delivery runs the handlers before the answer
 * meanwhile. If the replay succeeds, it completes that id too, so that no later delivery runs them.
 */
async function runExclusively(
  services: ReceiverServices,
  input: RunInput,
  parked: ParkedLetter,
  arrival: Arrival,
): Promise<Answered> {
  const { createdAtMs, key } = input.identity;
  const { warnings } = arrival;
  const enqueueing = await holdEvent(services, { claimId: enqueueingId(key), createdAtMs }, warnings);
  if (enqueueing.state === 'busy')
    throw new UnavailableError(
      'event_running',
      'a delivery or another replay of this event is being handled',
    );
  if (enqueueing.state !== 'claimed') return runOrJoin(services, input, parked, arrival);
  let answered: Answered | undefined;
  try {
    answered = await runOrJoin(services, input, parked, arrival);
    return answered;
  } finally {
    enqueueing.lease.stop();
    const isHandled = answered !== undefined && needsNoLetter(answered.answer);
    if (!isHandled) await enqueueing.claim.release(answered?.followed?.run.progress.handled ?? []);
    else if (!(await enqueueing.claim.complete()))
      warnings.push('completion_pending: the store did not record the enqueueing; it is tried again');
  }
}

/** Runs the event, or joins its run. Removes the dead letter once the event is handled. */
async function runOrJoin(
  { runs }: ReceiverServices,
  input: RunInput,
  parked: ParkedLetter,
  arrival: Arrival,
): Promise<Answered> {
  const followed = runs.startOrJoin(input);
  const answer = answerTo(followed, await followed.run.answer.settled());
  if (needsNoLetter(answer) && followed.joined) await remove(parked, arrival);
  return { answer, followed };
}

const NEEDS_NO_LETTER: Readonly<Record<AcceptedOutcome, boolean>> = {
  processed: true,
  duplicate: true,
  ignored: true,
  queued: true,
  handshake: false,
  parked: false,
};

function needsNoLetter(answer: Answer): boolean {
  return isSuccess(answer) && NEEDS_NO_LETTER[answer.outcome];
}

async function remove(parked: ParkedLetter, { warnings }: Arrival): Promise<void> {
  try {
    await parked.remove();
  } catch (error) {
    warnings.push(`dead_letter_not_removed: ${messageOf(error)}`);
  }
}

function stillRunning(): UnavailableError {
  return new UnavailableError(
    'event_running',
    'the handlers of this event may still be running: runningUntil of its dead letter is later than now',
  );
}
