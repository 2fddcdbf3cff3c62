import type { LetterOperations, LetterReason } from '../../dead-letters/letter-operations.ts';
import { Claim, claimedId } from '../../dedupe/claim.ts';
import { isFinalByAge } from '../../dedupe/last-attempt.ts';
import type { Lease } from '../../dedupe/lease.ts';
import { AbortedError, type PosthornError } from '../../errors.ts';
import { ageOf } from '../../events/age.ts';
import type { Answer } from '../../outcomes/outcome.ts';
import type { Warning } from '../../outcomes/report.ts';
import { performance } from '../../timing/process-clock.ts';
import { settledWithin } from '../../timing/time-limit.ts';
import type { RunProgress } from '../handlers/handlers.ts';
import { Interruption } from '../handlers/interruption.ts';
import { EventLetter } from '../letters/event-letter.ts';
import { type LetterRules, letterRulesOf, noLetterRules } from '../letters/letter-rules.ts';
import { PendingAnswer } from './pending-answer.ts';
import type { RunInput } from './run-input.ts';
import { RunResources } from './run-resources.ts';
import type { RunServices } from './run-services.ts';
import { type RunState, rulesOf } from './run-state.ts';

/** The longest wait of an ending run for the release of its keys: aborted handlers may go on for long. */
const LONGEST_RELEASE_MS = 1_000;

/** The number of runs that have begun in this process. */
let begun = 0;

/**
 * The run of one event: the parts that its steps in `handle-event.ts` share. Deliveries of the event that
 * arrive meanwhile join it. It goes on after its delivery was answered at the deadline. `origin.ts` has the
 * ways in which a run can begin.
 */
export class Run {
  /** Its number in this process, from 1. */
  readonly runId: number;
  readonly input: RunInput;
  readonly services: RunServices;
  readonly progress: RunProgress = { attempt: undefined, final: false, handled: [], reports: [] };
  readonly warnings: Warning[] = [];
  readonly answer: PendingAnswer = new PendingAnswer();
  readonly claim: Claim;
  /** Undefined without dead letters, and in a rerun. */
  readonly letter: EventLetter | undefined;
  readonly interruption: Interruption = new Interruption();
  readonly resources: RunResources;
  /** True if the store knows of an earlier attempt. A queue counts attempts of its own. */
  hasEarlierAttempt = false;
  #state: RunState = { step: 'claiming' };
  /** For each key that a handler has had, and for what a rerun holds, the promise that it is given back. */
  readonly keyReleases: Promise<void>[] = [];
  /** Resolves with the error of the handlers or of the enqueueing. An aborted run does not wait for it. */
  handlersEnded: Promise<PosthornError | undefined> | undefined = undefined;

  constructor(input: RunInput, services: RunServices) {
    const { claimId, identity, origin } = input;
    const { createdAtMs } = identity;
    begun += 1;
    this.runId = begun;
    this.input = input;
    this.services = services;
    const { retentionMs } = claimedId({ claimId, createdAtMs }, services.settings);
    const claimed = { claimId, retentionMs, isRequired: origin.requiresClaim };
    this.claim = new Claim(claimed, services, this.warnings);
    const letters = origin.usesLetter ? services.letters : undefined;
    this.letter = letters && letterOf(input, letters, this.warnings);
    this.resources = new RunResources(input, services, this.interruption);
  }

  get state(): RunState {
    return this.#state;
  }

  /** Takes the next step. `test/receiver/handling/run/run-steps.ts` lists what may follow each step. */
  enter(state: RunState): void {
    this.#state = state;
  }

  /** Renews a lease in place of the previous one, and aborts the handlers if it is lost. */
  renewLease(lease: Lease): void {
    this.resources.replaceLease(lease, (state) => this.abortTaken(state));
  }

  /**
   * Aborts the handlers, unless they have ended. If the lease is lost, the run still waits for them, because
   * they may succeed first.
   */
  abortTaken(state: 'lost' | 'completed'): void {
    if (!rulesOf(this.state).abortedBy.includes(state)) return;
    const reason = taken(state);
    this.warnings.push(`lease_lost: ${reason.message}`);
    if (state === 'lost') this.interruption.abort(reason);
    else this.interruption.end(reason);
  }

  /** Resolves once its handlers have given their keys back, or after `limitMs`, a second at most. */
  async keysReleased(limitMs: number = Number.POSITIVE_INFINITY): Promise<void> {
    if (this.keyReleases.length === 0) return;
    await settledWithin(Promise.all(this.keyReleases), Math.min(limitMs, LONGEST_RELEASE_MS));
  }

  /** The longest time for its handlers, in milliseconds. */
  get maxRunMs(): number {
    const { maxDeliveryRunMs, maxRunMs } = this.services.settings;
    return this.input.origin.source === 'delivery' ? maxDeliveryRunMs : maxRunMs;
  }

  /** True if the run should have ended by now. */
  get isOverdue(): boolean {
    return performance.now() > this.input.deadline.answerBy + this.maxRunMs;
  }

  /**
   * Stores the dead letter, or replaces it, and resolves with its id. If `mayBeRunning` is true, handlers may
   * be running from now on, and the dead letter gets `runningUntil`.
   */
  async storeLetter(
    reason: LetterReason,
    { mayBeRunning, answerBy }: { readonly mayBeRunning: boolean; readonly answerBy?: number },
  ): Promise<string | undefined> {
    const { now } = this.services.settings;
    const { maxRunMs } = this;
    const { attempt: attempts = 0, handled } = this.progress;
    const runningUntil = mayBeRunning ? now() + maxRunMs : undefined;
    return this.letter?.store(reason, { attempts, handled, runningUntil }, answerBy);
  }

  /** The rules for the dead letter at this moment. */
  get letterRules(): LetterRules {
    const { input, interruption, letter, progress, resources, services } = this;
    if (letter === undefined) return noLetterRules;
    const { deadline, identity, origin } = input;
    const { now, retries } = services.settings;
    const moment = {
      isClaimed: progress.attempt !== undefined,
      hasEarlierAttempt: this.hasEarlierAttempt,
      mayBeTaken: interruption.isAborted || resources.missedRenewal,
      isPastDeadline: deadline.isPast,
      // A sender without retries has no earlier delivery that could have parked the event.
      isFinalByAge: retries.storesLetterFirst && isFinalByAge(ageOf(identity.createdAtMs, now()), retries),
    };
    return letterRulesOf({ known: letter.known, isStored: letter.storedAs !== undefined, origin, moment });
  }

  /** The answer to a delivery whose deadline has come. */
  answerNow(): Answer {
    return rulesOf(this.state).answer(this.input, this.letter);
  }

  /** The warnings for a report that is created now. */
  get warningsNow(): readonly Warning[] {
    return this.state.step === 'completing' ? [...this.warnings, COMPLETING] : this.warnings;
  }
}

function letterOf(input: RunInput, letters: LetterOperations, warnings: Warning[]): EventLetter {
  const { deadline, headers, identity, origin, rawBody, receivedAt } = input;
  const content = { rawBody, headers, receivedAt, event: identity, parkedAt: origin.letter?.parkedAt };
  return new EventLetter(letters, content, deadline, warnings, origin.letter?.id);
}

/** The error of a run whose event another process has taken or completed. */
export function taken(state: 'lost' | 'completed'): AbortedError {
  return state === 'lost'
    ? new AbortedError('lease_lost', 'the lease ran out and another process has taken the event')
    : new AbortedError('completed_elsewhere', 'another process has completed the event');
}

const COMPLETING: Warning = 'completion_pending: the store did not take the completion before the deadline';
