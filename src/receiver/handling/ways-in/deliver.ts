// The way of an event after its signature, if its handler succeeds: functions in the order of their first
// calls. test/docs/followed-event/README.md has the way before and after; test/docs/followed-event.test.ts
// prints both.
//
//   begin                         handling/ways-in/deliver.ts
//   readEvent                     handling/ways-in/read-event.ts
//   parseEvent                    handling/ways-in/read-event.ts
//   readEvent                     providers/banking-service/read-event.ts
//   beginEvent                    handling/ways-in/deliver.ts
//   checkDeliveredAge             handling/ways-in/read-event.ts
//   checkAge                      events/age.ts
//   RunsInFlight.startOrJoin      handling/run/runs-in-flight.ts
//   RunsInFlight.start            handling/run/runs-in-flight.ts
//   handleEvent                   handling/run/handle-event.ts
//   claimAndHandle                handling/run/handle-event.ts
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

import type { Authentic, AuthenticationResult } from '../../authentication/authenticator.ts';
import { handlingId } from '../../dedupe/claim-id.ts';
import { EventError } from '../../errors.ts';
import { type Answer, accept, answerHandshake, isSuccess, refuse } from '../../outcomes/outcome.ts';
import { isReadFailure } from '../../provider/read-failure.ts';
import { SentHeaders } from '../../request/single-headers.ts';
import type { Settings } from '../../settings.ts';
import type { Awaitable } from '../../timing/awaitable.ts';
import { deliveryOrigin } from '../run/origin.ts';
import type { RunInput } from '../run/run-input.ts';
import type { FollowedRun } from '../run/runs-in-flight.ts';
import { type AnsweredDelivery, answerTo } from './answered.ts';
import type { Arrival } from './arrival.ts';
import { isQueued, toEnqueueInput } from './enqueue.ts';
import { parkRefused } from './park-refused.ts';
import { parkRun } from './park-run.ts';
import {
  type AgedEvent,
  checkDeliveredAge,
  type EventFacts,
  factsOfRefused,
  readEvent,
} from './read-event.ts';
import type { ReceiverServices } from './receiver-services.ts';

/** The facts about a delivery before its answer. */
type DeliveryFacts = Partial<EventFacts> & Pick<AnsweredDelivery, 'keyIndex' | 'bodyRead' | 'content'>;

/** A delivery that has begun: it waits for a run, or has an answer without one. */
type BegunDelivery = { readonly facts: DeliveryFacts } & (
  | { readonly followed: FollowedRun }
  | { readonly answer: Awaitable<Answer> }
);

/**
 * Takes a delivery through authentication, event, dedupe and handlers to its answer. Parks an event for which
 * no retry will come. Never rejects.
 */
export async function deliver(
  services: ReceiverServices,
  authenticate: () => Promise<AuthenticationResult>,
  arrival: Arrival,
): Promise<AnsweredDelivery> {
  let facts: DeliveryFacts = { bodyRead: false };
  try {
    // No variable here holds the body, because hundreds of deliveries may wait for one run.
    const begun = begin(services, await authenticate(), arrival);
    facts = begun.facts;
    if ('followed' in begun) return await finish(services, begun.facts, begun.followed, arrival);
    return { ...facts, answer: await begun.answer, isUnfinished: false };
  } catch (error) {
    return { ...facts, answer: refuse(error), isUnfinished: false };
  }
}

/**
 * Starts or joins the run of an event, or returns an answer if the event needs no run. With dead letters, an
 * event that fails its checks is parked. An event that is refused for another reason is parked only if no
 * retry will come.
 */
function begin(
  services: ReceiverServices,
  authentication: AuthenticationResult,
  arrival: Arrival,
): BegunDelivery {
  if ('error' in authentication) {
    const { bodyRead, error } = authentication;
    return { facts: { bodyRead }, answer: refuse(error) };
  }
  const { authentic } = authentication;
  const { account, headers, keyIndex, rawBody } = authentic;
  const { settings } = services;
  let read: AgedEvent | undefined;
  try {
    const answer = handshakeWith(authentic, settings);
    if (answer !== undefined) return { facts: { keyIndex, bodyRead: true }, answer };
    read = readEvent(authentic, settings);
    const { identity: event, isFinalByAge } = read;
    const begun = beginEvent(services, authentic, read, arrival);
    const facts = { event, isFinalByAge, keyIndex, bodyRead: true };
    return 'followed' in begun ? { facts, ...begun } : { facts: { ...facts, content: authentic }, ...begun };
  } catch (error) {
    const refused = refuse(isReadFailure(error) ? error.cause : error);
    const { event: known, isFinalByAge } = factsOfRefused(error, refused.error, read, settings);
    // Without the account the event would be parked under the key of another account's event.
    const event = { ...known, account };
    const facts = { event, isFinalByAge, keyIndex, bodyRead: true, content: authentic };
    if (!isFinalByAge && !(refused.error instanceof EventError)) return { facts, answer: refused };
    const content = { rawBody, headers, receivedAt: arrival.receivedAt, event };
    return { facts, answer: parkRefused(services, refused, content, arrival) };
  }
}

/** The answer to a request that is not an event, but a question of the sender. */
function handshakeWith({ rawBody, headers }: Authentic, { provider }: Settings): Answer | undefined {
  if (provider.handshake === undefined) return undefined;
  try {
    const sent = new SentHeaders(headers);
    const reply = provider.handshake({ rawBody, headers: sent });
    if (sent.isTooLong) throw new EventError('envelope_invalid', 'a header of the request is too long', {});
    return reply && answerHandshake(reply);
  } catch (error) {
    if (error instanceof EventError) throw error;
    // A question is not an event, so there is nothing to park.
    return refuse(error);
  }
}

/** Checks the age of an event and finds its handlers, then starts or joins its run. */
function beginEvent(
  { completions, router, runs, settings }: ReceiverServices,
  { rawBody, headers, isTimed }: Authentic,
  read: AgedEvent,
  arrival: Arrival,
): { readonly followed: FollowedRun } | { readonly answer: Answer } {
  const { queue } = settings;
  const { event, identity } = read;
  const { key, id, type } = identity;
  checkDeliveredAge(read, isTimed, settings);
  arrival.checkNotClosing();
  const routes = router.matchAny(type);
  if (routes.length === 0) return { answer: accept('ignored', id) };
  const { receivedAt, deadline } = arrival;
  const handlingInput: RunInput = {
    identity,
    claimId: handlingId(key),
    event,
    rawBody,
    headers,
    receivedAt,
    deadlineAt: receivedAt + deadline.limitMs,
    deadline,
    routes,
    origin: deliveryOrigin,
  };
  const isForWorkers = queue !== undefined && routes.some(isQueued);
  const input = isForWorkers ? toEnqueueInput(handlingInput, queue, settings) : handlingInput;
  if (completions.has(input.claimId)) return { answer: accept('duplicate', id) };
  return { followed: runs.startOrJoin(input) };
}

/**
 * Waits for a run until the deadline. Parks its event if it has not succeeded, and is so old that no retry
 * will come. (If the attempt is the last one by count, the dead letter was stored before the handlers.) A run
 * that has not ended by then goes on: see `isUnfinished`.
 */
async function finish(
  { letters }: ReceiverServices,
  facts: DeliveryFacts,
  followed: FollowedRun,
  { deadline }: Arrival,
): Promise<AnsweredDelivery> {
  const { run } = followed;
  const { bodyRead, event, isFinalByAge: final = false, keyIndex } = facts;
  const answerBy = final && letters !== undefined ? deadline.answerOrParkBy : deadline.answerBy;
  const settled = await run.answer.settledBy(answerBy);
  const answer = answerTo(followed, settled ?? run.answerNow());
  const isUnfinished = settled === undefined;
  const answered = { answer, event, followed, keyIndex, isFinalByAge: final, bodyRead, isUnfinished };
  if (isSuccess(answer) || !final) return answered;
  const storedAs = await parkRun(run, answer.error, deadline.letterBy);
  if (storedAs === undefined) return answered;
  return { ...answered, answer: accept('parked', run.input.identity.id, answer.error) };
}
