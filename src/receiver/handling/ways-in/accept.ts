import type { DeadLetter } from '../../dead-letters/dead-letters.ts';
import { handlingId } from '../../dedupe/claim-id.ts';
import { type Answer, accept as answerAs, isSuccess, refuse } from '../../outcomes/outcome.ts';
import { isReadFailure } from '../../provider/read-failure.ts';
import { messageOf } from '../../values/foreign-values.ts';
import type { Route } from '../handlers/route.ts';
import { acceptOrigin } from '../run/origin.ts';
import type { RunInput } from '../run/run-input.ts';
import type { FollowedRun } from '../run/runs-in-flight.ts';
import type { CheckedAcceptOptions } from './accept-options.ts';
import { type Answered, answerTo } from './answered.ts';
import type { Arrival } from './arrival.ts';
import { isQueued, toEnqueueInput } from './enqueue.ts';
import { checkNotAhead, type FetchedEvent, forgottenError, readFetched } from './fetched-event.ts';
import { knowledgeOf } from './known-event.ts';
import { parkRun } from './park-run.ts';
import { membersOfRefused } from './read-event.ts';
import type { ReceiverServices } from './receiver-services.ts';

/**
 * Handles an event that the application fetched, and waits for the end of its handlers. Parks what its
 * handlers failed; an event that is refused is only returned, because the caller has it.
 */
export async function accept(
  services: ReceiverServices,
  event: unknown,
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
  const { id, type } = fetched.identity;
  const routes = router.matchAny(type);
  if (routes.length === 0) return { answer: answerAs('ignored', id) };
  checkNotAhead(fetched, settings);
  const forgotten = forgottenError(fetched, options, settings);
  if (forgotten !== undefined || routes.some(isQueued)) {
    const knowledge = await knowledgeOf(services, fetched.identity, routes, { mayClaim: true });
    if (knowledge === 'handled') return { answer: answerAs('duplicate', id) };
    if (forgotten !== undefined && !options.allowForgotten && knowledge !== 'running') throw forgotten;
  }
  const letter = forgotten && (await findLetter(services, fetched, arrival));
  const followed = runs.startOrJoin(toInput(services, fetched, { routes, letter, arrival }));
  const answer = answerTo(followed, await followed.run.answer.settled());
  return { answer: await answerForCaller(answer, followed, arrival), followed };
}

/**
 * Reads the dead letter of an event that the store may have forgotten: it knows which handlers have finished.
 */
async function findLetter(
  { letters }: ReceiverServices,
  { identity }: FetchedEvent,
  { deadline, warnings }: Arrival,
): Promise<DeadLetter | undefined> {
  try {
    return await letters?.find(identity.key, {
      answerBy: deadline.backgroundBy,
      isUrgent: false,
      // The caller has the body in memory in any case.
      bodyBytes: 0,
    });
  } catch (error) {
    warnings.push(`dead_letter_not_read: ${messageOf(error)}`);
    return undefined;
  }
}

/** The facts for a run, beside the event. */
interface RunFacts {
  readonly routes: readonly Route[];
  readonly letter: DeadLetter | undefined;
  readonly arrival: Arrival;
}

function toInput(
  { settings }: ReceiverServices,
  { identity, event, rawBody, headers }: FetchedEvent,
  { routes, letter, arrival: { deadline, receivedAt } }: RunFacts,
): RunInput {
  const { maxRunMs, now, queue } = settings;
  const input: RunInput = {
    identity,
    claimId: handlingId(identity.key),
    event,
    rawBody,
    headers,
    receivedAt,
    deadlineAt: now() + maxRunMs,
    deadline,
    routes,
    origin: acceptOrigin(letter),
  };
  return queue !== undefined && routes.some(isQueued) ? toEnqueueInput(input, queue, settings) : input;
}

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
  const { attempt, reports } = run.progress;
  const hasRecords = reports.length > 0 && reports.every(({ skipped }) => skipped === 'handled_before');
  if (answer.outcome === 'processed') return hasRecords ? answerAs('duplicate', id) : answer;
  if (isSuccess(answer) || !joined || attempt === undefined) return answer;
  const storedAs = await parkRun(run, answer.error, deadline.backgroundBy);
  return storedAs === undefined ? answer : answerAs('parked', id, answer.error);
}
