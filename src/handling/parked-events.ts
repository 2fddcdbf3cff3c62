import type { DeadLetter } from '../dead-letters/dead-letters.ts';
import { acceptanceId, handlingId } from '../dedupe/claim-id.ts';
import { retentionFor } from '../dedupe/retention.ts';
import { ConfigurationError, UnavailableError } from '../errors.ts';
import { createdAtMs, parseEvent } from '../events/event.ts';
import { messageOf, show } from '../foreign-values.ts';
import { type Answer, accept, isSuccess } from '../outcomes/outcome.ts';
import { readHeaders } from '../request/headers.ts';
import { Drop } from './drop.ts';
import { answerTo, type EventHandling } from './event-handling.ts';
import { ParkedLetter } from './parked-letter.ts';
import { isQueued } from './queued-handlers.ts';
import type { Trace } from './trace.ts';

/** Replays parked events, and gives them up. */
export class ParkedEvents {
  readonly #handling: EventHandling;

  constructor(handling: EventHandling) {
    this.#handling = handling;
  }

  /** Runs a parked event; waits for the end of its handlers. */
  async replay(letter: DeadLetter, trace: Trace): Promise<Answer> {
    const { settings, runs } = this.#handling;
    checkLetter(letter, 'replay()');
    const parked = new ParkedLetter(letter, this.#handling);
    trace.event = letter;
    if (parked.isRunning) {
      throw new UnavailableError(
        'event_running',
        'the handlers of this event may still be running: runningUntil of its letter is later than now',
      );
    }
    const event = parseEvent(letter.rawBody);
    const { id } = event;
    const claimId = handlingId(id);
    const routes = this.#handling.routesFor(event, trace);
    if (routes.length === 0) return accept('ignored', id);
    if (runs.isCompletionPending(claimId)) {
      await takeOut(parked, trace);
      return accept('duplicate', id);
    }
    const { rawBody, receivedAt } = letter;
    const headers = readHeaders(letter.headers);
    const deadlineAt = settings.now() + settings.maxRunMs;
    const createdAt = createdAtMs(event);
    const { deadline, deadlineMs } = trace;
    const times = { createdAt, receivedAt, deadlineAt, deadline, deadlineMs };
    const job = { id, claimId, event, rawBody, headers, ...times, routes, replayed: letter };
    const run = this.#handling.startOrJoin(job, trace);
    const answer = answerTo(trace, await run.answer.settled());
    if (!isSuccess(answer) || answer.outcome === 'parked') return answer;
    if (trace.joined) await takeOut(parked, trace);
    if (routes.some(isQueued)) await this.#recordAcceptance(id, retentionFor(createdAt, settings), trace);
    return answer;
  }

  /**
   * Gives a parked event up. The letter is read before its id is claimed: a claim counts as an attempt, and
   * the event of a letter that is gone is not this call's to give up.
   */
  async drop(letter: DeadLetter): Promise<boolean> {
    checkLetter(letter, 'drop()');
    const parked = new ParkedLetter(letter, this.#handling);
    if (parked.isRunning || !(await parked.isStillParked())) return false;
    return await new Drop(parked, this.#handling).run();
  }

  /** A later delivery of an event that was handled as a whole must not run what is not queued again. */
  async #recordAcceptance(id: string, retentionMs: number, trace: Trace): Promise<void> {
    try {
      await this.#completeAcceptance(id, retentionMs);
    } catch (error) {
      trace.warnings.push(`completion_pending: the store did not take the acceptance: ${messageOf(error)}`);
    }
  }

  async #completeAcceptance(id: string, retentionMs: number): Promise<void> {
    await this.#handling.store.complete({ id: acceptanceId(id), token: 'replayed', retentionMs });
  }
}

async function takeOut(parked: ParkedLetter, trace: Trace): Promise<void> {
  try {
    await parked.takeOut();
  } catch (error) {
    trace.warnings.push(`dead_letter_not_removed: ${messageOf(error)}`);
  }
}

/** `deadLetters.get` resolves with undefined where somebody else was faster. */
function checkLetter(letter: unknown, functionName: string): void {
  if (typeof letter === 'object' && letter !== null) return;
  throw new ConfigurationError(
    `${functionName} takes a letter, got ${show(letter)}: if deadLetters.get() found none, it was replayed or dropped`,
  );
}
