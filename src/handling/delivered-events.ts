import type { Authentic } from '../authentication/authenticator.ts';
import { parkingLimitMs } from '../dead-letters/parking.ts';
import { handlingId } from '../dedupe/claim-id.ts';
import { isFinalByAge } from '../dedupe/last-attempt.ts';
import { EventError } from '../errors.ts';
import { checkAge, createdAtMs, parseEvent } from '../events/event.ts';
import { type Answer, accept, isSuccess, refuse } from '../outcomes/outcome.ts';
import type { Awaitable } from '../timing/awaitable.ts';
import { answerTo, type EventHandling, parkBy } from './event-handling.ts';
import { isQueued, toAcceptance } from './queued-handlers.ts';
import type { Run } from './run.ts';
import type { Trace } from './trace.ts';

/**
 * Takes an authentic body through event, dedupe and handlers to its answer, and parks what cannot be retried.
 */
export class DeliveredEvents {
  readonly #handling: EventHandling;

  constructor(handling: EventHandling) {
    this.#handling = handling;
  }

  /** Begins or joins the run of an event; gives an answer where it needs none. */
  begin(authentic: Authentic, trace: Trace): Awaitable<Run | Answer> {
    try {
      return this.#beginEvent(authentic, trace);
    } catch (error) {
      const refused = refuse(error);
      if (refused.error instanceof EventError) trace.event = refused.error.event;
      const isFixedByRetry = !(refused.error instanceof EventError) && !trace.finalByAge;
      if (isFixedByRetry) return refused;
      return this.#handling.park(refused, { ...authentic, receivedAt: trace.receivedAt }, trace);
    }
  }

  /** Parses an event, checks its age and finds its handlers, then starts or joins its run. */
  #beginEvent({ rawBody, headers }: Authentic, trace: Trace): Run | Answer {
    const { settings, runs } = this.#handling;
    const event = parseEvent(rawBody);
    const { id, type } = event;
    trace.event = { id, type };
    const createdAt = createdAtMs(event);
    const ageMs = settings.now() - createdAt;
    trace.finalByAge = isFinalByAge(ageMs, settings.retryScheduleMs);
    checkAge(event, ageMs, settings.maxEventAgeMs);
    const routes = this.#handling.routesFor(event, trace);
    if (routes.length === 0) return accept('ignored', id);
    const { receivedAt, deadline, deadlineMs } = trace;
    const deadlineAt = receivedAt + deadlineMs;
    const times = { createdAt, receivedAt, deadlineAt, deadline, deadlineMs };
    const whole = { id, claimId: handlingId(id), event, rawBody, headers, ...times, routes };
    const { queue } = settings;
    const isForWorkers = queue !== undefined && routes.some(isQueued);
    const job = isForWorkers ? toAcceptance(whole, queue, settings.now) : whole;
    if (runs.isCompletionPending(job.claimId)) return accept('duplicate', id);
    return this.#handling.startOrJoin(job, trace);
  }

  /**
   * Waits for a run, and parks its event where it failed and no retry will come. A run that has not ended
   * before the deadline goes on: see `trace.unfinished`.
   */
  async finish(run: Run, trace: Trace): Promise<Answer> {
    const settled = await run.answer.settledBy(this.#answerBy(trace));
    trace.unfinished = settled === undefined;
    const answer = answerTo(trace, settled ?? run.answerNow());
    if (isSuccess(answer) || !trace.finalByAge) return answer;
    const id = await run.park(answer.error, parkBy(trace));
    return id === undefined ? answer : accept('parked', id, answer.error);
  }

  /** Until when a delivery waits for its run. */
  #answerBy(trace: Trace): number {
    const mayPark = trace.finalByAge && this.#handling.parking !== undefined;
    const reserveMs = mayPark ? parkingLimitMs(trace.deadlineMs) : 0;
    return trace.deadline - reserveMs;
  }
}
