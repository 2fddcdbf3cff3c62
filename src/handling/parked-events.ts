import type { DeadLetter } from '../dead-letters/dead-letters.ts';
import type { Wait } from '../dead-letters/line.ts';
import { acceptanceId, handlingId } from '../dedupe/claim-id.ts';
import { retentionFor } from '../dedupe/retention.ts';
import { ConfigurationError, messageOf, show, UnavailableError } from '../errors.ts';
import { createdAtMs, parseEvent } from '../events/event.ts';
import { type Answer, accept, isSuccess } from '../outcomes/outcome.ts';
import { readHeaders } from '../request/headers.ts';
import { answerTo, type EventHandling } from './event-handling.ts';
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
    trace.event = letter;
    if (this.#isRunning(letter)) {
      throw new UnavailableError(
        'twin_running',
        'the handlers of this event may still be running: runningUntil of its letter is later than now',
      );
    }
    const event = parseEvent(letter.rawBody);
    const { id } = event;
    const claimId = handlingId(id);
    const routes = this.#handling.routesFor(event, trace);
    if (routes.length === 0) return accept('ignored', id);
    if (runs.isCompletionPending(claimId)) {
      await this.#takeOut(letter, trace);
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
    if (trace.joined) await this.#takeOut(letter, trace);
    if (routes.some(isQueued)) await this.#recordAcceptance(id, retentionFor(createdAt, settings), trace);
    return answer;
  }

  /**
   * Completes the id of a parked event and takes its letter out. The letter is read first: one that is gone
   * may have been replayed or dropped by somebody else, and its id is not this call's to complete.
   */
  async drop(letter: DeadLetter): Promise<boolean> {
    const { parking, settings, store } = this.#handling;
    checkLetter(letter, 'drop()');
    if (parking === undefined || this.#isRunning(letter)) return false;
    const stored = await parking.find(letter.id, this.#wait());
    if (stored === undefined || this.#isRunning(stored)) return false;
    const retentionMs = this.#retentionOf(letter);
    await store.complete({ id: handlingId(letter.id), token: 'dropped', retentionMs });
    if (settings.queue !== undefined) await this.#completeAcceptance(letter.id, retentionMs);
    return await parking.remove(letter.id, this.#wait());
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

  async #takeOut(letter: DeadLetter, trace: Trace): Promise<void> {
    try {
      await this.#handling.parking?.remove(letter.id, this.#wait());
    } catch (error) {
      trace.warnings.push(`dead_letter_not_removed: ${messageOf(error)}`);
    }
  }

  /** How an operation waits where no sender does. */
  #wait(): Wait {
    return { answerBy: performance.now() + this.#handling.settings.deadlineMs, isUrgent: false };
  }

  #retentionOf(letter: DeadLetter): number {
    const { settings } = this.#handling;
    try {
      return retentionFor(createdAtMs(parseEvent(letter.rawBody)), settings);
    } catch {
      return settings.retentionMs; // what is no event has no age
    }
  }

  #isRunning({ runningUntil }: DeadLetter): boolean {
    return runningUntil !== undefined && runningUntil > this.#handling.settings.now();
  }
}

/** `deadLetters.get` resolves with undefined where somebody else was faster. */
function checkLetter(letter: unknown, functionName: string): void {
  if (typeof letter === 'object' && letter !== null) return;
  throw new ConfigurationError(
    `${functionName} takes a letter, got ${show(letter)}: if deadLetters.get() found none, it was replayed or dropped`,
  );
}
