import type { DeadLetter } from '../../dead-letters/dead-letters.ts';
import { handlingId } from '../../dedupe/claim-id.ts';
import { PosthornError } from '../../errors.ts';
import {
  type Answer,
  accept as answerAs,
  isSuccess,
  type ReportedError,
  refuse,
  toReportedError,
} from '../../outcomes/outcome.ts';
import { isReadFailure } from '../../provider/read-failure.ts';
import { isReportCode } from '../../refusals.ts';
import type { RawBody } from '../../request/raw-body.ts';
import type { Route } from '../handlers/route.ts';
import { acceptOrigin } from '../run/origin.ts';
import type { RunInput } from '../run/run-input.ts';
import type { FollowedRun } from '../run/runs-in-flight.ts';
import type { CheckedAcceptOptions } from './accept-options.ts';
import { type Answered, answerTo, foundRecordsOnly } from './answered.ts';
import type { Arrival } from './arrival.ts';
import { isQueued, toEnqueueInput } from './enqueue.ts';
import { checkNotAhead, type FetchedEvent, forgottenError, readFetched } from './fetched-event.ts';
import { haveRecords, isHandledInJournal, knowledgeOf, parkedLetter } from './known-event.ts';
import { parkRun } from './park-run.ts';
import { membersOfRefused } from './read-event.ts';
import type { ReceiverServices } from './receiver-services.ts';

/**
 * Handles an event that the application fetched, and waits for the end of its handlers. Parks what its
 * handlers failed, and leaves what is parked already to a replay. An event that is refused is only returned,
 * because the caller has it.
 */
export async function accept(
  services: ReceiverServices,
  event: RawBody,
  options: CheckedAcceptOptions,
  arrival: Arrival,
): Promise<Answered> {
  let fetched: FetchedEvent | undefined;
  try {
    fetched = readFetched(event, options, services.settings);
    arrival.checkNotClosing();
    return { event: fetched.identity, ...(await handleFetched(services, fetched, options, arrival)) };
  } catch (error) {
    const members = fetched?.identity ?? { ...membersOfRefused(error), account: options.account };
    return { event: members, answer: refuse(isReadFailure(error) ? error.cause : error) };
  }
}

async function handleFetched(
  services: ReceiverServices,
  fetched: FetchedEvent,
  options: CheckedAcceptOptions,
  arrival: Arrival,
): Promise<Answered> {
  const { router, runs, settings } = services;
  const { id, key, type } = fetched.identity;
  const routes = router.matchAny(type);
  if (routes.length === 0) return { answer: answerAs('ignored', id) };
  checkNotAhead(fetched, options, settings);
  const forgotten = options.allowForgotten ? undefined : forgottenError(fetched, options, settings);
  // A store without `peek` can only be asked by a claim. Other events are claimed in any case.
  const mayClaim = forgotten !== undefined;
  const knowledge = await knowledgeOf(services, fetched.identity, routes, { mayClaim });
  // A younger event asks the inboxes as it runs, and the store knows it for certain.
  const isHandled =
    knowledge === 'handled' ||
    (forgotten !== undefined &&
      ((await haveRecords(routes, key)) || (await isHandledInJournal(services, key))));
  if (isHandled) return { answer: answerAs('duplicate', id) };
  const letter = knowledge === 'running' ? undefined : await parkedLetter(services, key);
  if (letter !== undefined) return { answer: answerAs('parked', id, reasonOf(letter)) };
  if (forgotten !== undefined && knowledge !== 'running') throw forgotten;
  const followed = runs.startOrJoin(toInput(services, fetched, routes, arrival));
  const answer = answerTo(followed, await followed.run.answer.settled());
  return { answer: await answerForCaller(answer, followed, arrival), followed };
}

/** Returns the reason why an event was parked; undefined for one that this version does not know. */
function reasonOf({ message, reason }: DeadLetter): ReportedError | undefined {
  return isReportCode(reason) ? toReportedError(new PosthornError(reason, message)) : undefined;
}

function toInput(
  { settings }: ReceiverServices,
  { identity, event, rawBody, headers }: FetchedEvent,
  routes: readonly Route[],
  { deadline, receivedAt }: Arrival,
): RunInput {
  const { maxRunMs, queue } = settings;
  const claimId = handlingId(identity.key);
  const times = { receivedAt, deadlineAt: receivedAt + maxRunMs, deadline };
  const input = { identity, claimId, event, rawBody, headers, ...times, routes, origin: acceptOrigin };
  return queue !== undefined && routes.some(isQueued) ? toEnqueueInput(input, queue, settings) : input;
}

/** The codes of runs whose handlers did not begin, because too many others had. */
const LIMIT_CODES: readonly string[] = ['too_many_running', 'key_busy'];

/**
 * Returns the answer for the caller. If every handler found a record of the event in its inbox, the event is
 * a duplicate. If the run of a delivery failed, the event is parked, because the caller makes no further
 * attempt.
 */
async function answerForCaller(
  answer: Answer,
  { joined, run }: FollowedRun,
  { deadline }: Arrival,
): Promise<Answer> {
  const { id } = run.input.identity;
  const { attempt } = run.progress;
  if (answer.outcome === 'processed') return foundRecordsOnly(run) ? answerAs('duplicate', id) : answer;
  if (isSuccess(answer) || !joined || attempt === undefined) return answer;
  if (LIMIT_CODES.includes(answer.error.code)) return answer;
  const storedAs = await parkRun(run, answer.error, deadline.backgroundBy);
  return storedAs === undefined ? answer : answerAs('parked', id, answer.error);
}
