// The way of an event after its signature, if its handler succeeds: functions in the order of their first
// calls. docs/how-it-works.md has the way before and after. test/docs/followed-event.test.ts prints both.
//
//   begin                         handling/ways-in/deliver.ts
//   beginEvent                    handling/ways-in/deliver.ts
//   parseEvent                    events/event.ts
//   checkAge                      events/event.ts
//   RunsInFlight.startOrJoin      handling/run/runs-in-flight.ts
//   RunsInFlight.start            handling/run/runs-in-flight.ts
//   handleEvent                   handling/run/handle-event.ts
//   handle                        handling/run/handle-event.ts
//   takeClaim                     handling/run/handle-event.ts
//   Claim.takeOrProceedUnclaimed  dedupe/claim.ts
//   Memory.claim                  stores/memory/memory.ts
//   finish                        handling/ways-in/deliver.ts
//   beginAttempt                  handling/run/handle-event.ts
//   StoredLease.startRenewing     dedupe/lease.ts
//   noteHandled                   handling/handlers/handlers.ts
//   handleOnLease                 handling/run/handle-event.ts
//   startHandlers                 handling/run/handle-event.ts
//   runHandler                    handling/handlers/handlers.ts
//   the handler                   your application
//   recordSuccess                 handling/run/run-end.ts
//   Claim.complete                dedupe/claim.ts
//   Completions.record            dedupe/retries.ts
//   Memory.complete               stores/memory/memory.ts
//   StoredLease.stop              dedupe/lease.ts

import type { Authentic } from '../../authentication/authenticator.ts';
import { handlingId } from '../../dedupe/claim-id.ts';
import { isFinalByAge } from '../../dedupe/last-attempt.ts';
import { EventError, type PosthornError } from '../../errors.ts';
import { checkAge, createdAtMs, parseEvent } from '../../events/event.ts';
import { readUnchecked } from '../../events/unchecked-event.ts';
import { type Answer, accept, isSuccess, refuse } from '../../outcomes/outcome.ts';
import type { Awaitable } from '../../timing/awaitable.ts';
import { deliveryOrigin } from '../run/origin.ts';
import { Run } from '../run/run.ts';
import type { RunInput } from '../run/run-input.ts';
import { rulesOf } from '../run/run-state.ts';
import { answerTo, checkNotClosing, type DeliveryProgress } from './delivery-progress.ts';
import { isQueued, toEnqueueInput } from './enqueue.ts';
import { parkRefused } from './park-refused.ts';
import type { ReceiverServices } from './receiver-services.ts';

/**
 * Takes a delivery through authentication, event, dedupe and handlers to its answer. Parks an event for which
 * no retry will come. Never rejects.
 */
export async function deliver(
  services: ReceiverServices,
  authenticate: () => Promise<Authentic>,
  progress: DeliveryProgress,
): Promise<Answer> {
  try {
    // No variable here holds the body, because hundreds of deliveries may wait for one run.
    const begun = begin(services, await authenticate(), progress);
    if (begun instanceof Run) return await finish(services, begun, progress);
    return await begun;
  } catch (error) {
    return refuse(error);
  }
}

/**
 * Starts or joins the run of an event, or returns an answer if the event needs no run. With dead letters, an
 * event that fails its checks is parked. An event that is refused for another reason is parked only if no
 * retry will come.
 */
function begin(
  services: ReceiverServices,
  authentic: Authentic,
  progress: DeliveryProgress,
): Run | Awaitable<Answer> {
  try {
    return beginEvent(services, authentic, progress);
  } catch (error) {
    const refused = refuse(error);
    if (refused.error.code === 'internal_error') noteUnchecked(services, authentic, progress);
    if (refused.error instanceof EventError) progress.event = refused.error.event;
    else if (!progress.finalByAge) return refused;
    return parkRefused(services, refused, { ...authentic, receivedAt: progress.receivedAt }, progress);
  }
}

/**
 * After an error inside posthorn, notes the parts of the event that can be read. If its age is not among
 * them, no retry can be counted on.
 */
function noteUnchecked(
  { settings }: ReceiverServices,
  { rawBody }: Authentic,
  progress: DeliveryProgress,
): void {
  const { id, type, createdAt } = readUnchecked(rawBody);
  progress.event ??= { id, type };
  progress.finalByAge =
    Number.isNaN(createdAt) || isFinalByAge(settings.now() - createdAt, settings.retryScheduleMs);
}

/** Parses an event, checks its age and finds its handlers, then starts or joins its run. */
function beginEvent(
  services: ReceiverServices,
  { rawBody, headers }: Authentic,
  progress: DeliveryProgress,
): Run | Answer {
  const { completions, router, runs, settings } = services;
  const { queue } = settings;
  const event = parseEvent(rawBody);
  const { id, type } = event;
  progress.event = { id, type };
  const createdAt = createdAtMs(event);
  const ageMs = settings.now() - createdAt;
  progress.finalByAge = isFinalByAge(ageMs, settings.retryScheduleMs);
  checkAge(event, ageMs, settings.maxEventAgeMs);
  checkNotClosing(progress);
  const routes = router.matchAny(type);
  if (routes.length === 0) return accept('ignored', id);
  const { receivedAt, deadline } = progress;
  const handlingInput: RunInput = {
    id,
    claimId: handlingId(id),
    event,
    createdAt,
    rawBody,
    headers,
    receivedAt,
    deadlineAt: receivedAt + deadline.limitMs,
    deadline,
    routes,
    origin: deliveryOrigin,
  };
  const isForWorkers = queue !== undefined && routes.some(isQueued);
  const input = isForWorkers ? toEnqueueInput(handlingInput, queue, settings.now) : handlingInput;
  if (completions.has(input.claimId)) return accept('duplicate', id);
  return progress.follow(runs.startOrJoin(input));
}

/**
 * Waits for a run until the deadline. Parks its event if it has not succeeded, and is so old that no retry
 * will come. (If the attempt is the last one by count, the dead letter was stored before the handlers.) A run
 * that has not ended by then goes on: see `progress.unfinished`.
 */
async function finish({ letters }: ReceiverServices, run: Run, progress: DeliveryProgress): Promise<Answer> {
  const { deadline, finalByAge } = progress;
  const mayPark = finalByAge && letters !== undefined;
  const settled = await run.answer.settledBy(mayPark ? deadline.answerOrParkBy : deadline.answerBy);
  progress.unfinished = settled === undefined;
  const answer = answerTo(progress, settled ?? run.answerNow());
  if (isSuccess(answer) || !finalByAge) return answer;
  const id = await park(run, answer.error, deadline.letterBy);
  return id === undefined ? answer : accept('parked', id, answer.error);
}

/** Parks the event beside or after its run, for a delivery that no retry will follow. */
async function park(run: Run, error: PosthornError, answerBy: number): Promise<string | undefined> {
  const { hasEnded, mayRun } = rulesOf(run.state);
  if (!hasEnded && run.letter?.storedAs !== undefined) return run.letter.storedAs;
  const storedAs = await run.storeLetter(error, { mayRun, answerBy });
  // The event may have been completed before the dead letter was stored.
  if (storedAs !== undefined && rulesOf(run.state).hasEnded)
    void run.letter?.removeIfCompleted(run.input, run.services);
  return storedAs;
}
