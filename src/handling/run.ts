import type { LetterOperations } from '../dead-letters/letter-operations.ts';
import { Claim } from '../dedupe/claim.ts';
import type { Lease } from '../dedupe/lease.ts';
import { AbortedError, type PosthornError } from '../errors.ts';
import type { Warning } from '../outcomes/report.ts';
import { EventLetter } from './event-letter.ts';
import type { Progress } from './handlers.ts';
import { Interruption } from './interruption.ts';
import { PendingAnswer } from './pending-answer.ts';
import type { RunInput } from './run-input.ts';
import { RunScope } from './run-scope.ts';
import type { RunServices } from './run-services.ts';
import { type RunState, rulesOf } from './run-state.ts';

/** How many runs have begun in this process. */
let begun = 0;

/**
 * The parts of one event's run, which its steps share: `handle-event.ts` has these. Deliveries of the event
 * that arrive meanwhile join the run. It goes on when its delivery has been answered at the deadline.
 * `origin.ts` says how a run can begin, and what differs by that.
 */
export class Run {
  /** Its number in this process, from 1. */
  readonly runId: number;
  readonly input: RunInput;
  readonly services: RunServices;
  readonly progress: Progress = { attempt: undefined, final: false, handled: [], reports: [] };
  /** The problems of the run so far. */
  readonly warnings: Warning[] = [];
  readonly answer: PendingAnswer = new PendingAnswer();
  readonly claim: Claim;
  /** Undefined without dead letters. */
  readonly letter: EventLetter | undefined;
  readonly interruption: Interruption = new Interruption();
  readonly scope: RunScope;
  state: RunState = { step: 'claiming' };
  /** The end of the handlers and of the enqueueing; an aborted run does not wait for it. */
  finished: Promise<PosthornError | undefined> | undefined = undefined;

  constructor(input: RunInput, services: RunServices) {
    begun += 1;
    this.runId = begun;
    this.input = input;
    this.services = services;
    this.claim = new Claim(input, services, this.warnings);
    this.letter = services.letters && letterOf(input, services.letters, this.warnings);
    this.scope = new RunScope(input, services, this.interruption);
  }

  /** Keeps a lease in place of the lease before. */
  keep(lease: Lease): void {
    this.scope.keep(lease, (state) => {
      if (rulesOf(this.state).abortedBy.includes(state)) this.abort(taken(state));
    });
  }

  /** Interrupts the run: see {@link Interruption}. */
  abort(reason: AbortedError): void {
    const isTaken = reason.code === 'lease_lost' || reason.code === 'completed_elsewhere';
    if (isTaken) this.warnings.push(`lease_lost: ${reason.message}`);
    this.interruption.abort(reason);
  }

  /** Whether the run should have ended by now. */
  get isOverdue(): boolean {
    return performance.now() > this.input.deadline.answerBy + this.services.settings.maxRunMs;
  }

  /** The warnings of a report that is made now. */
  get warningsNow(): readonly Warning[] {
    return this.state.step === 'completing' ? [...this.warnings, COMPLETING] : this.warnings;
  }
}

function letterOf(input: RunInput, letters: LetterOperations, warnings: Warning[]): EventLetter {
  const { deadline, event, headers, id, origin, rawBody, receivedAt } = input;
  const content = { rawBody, headers, receivedAt, id, type: event.type, parkedAt: origin.letter?.parkedAt };
  return new EventLetter(letters, content, deadline, warnings, origin.letter?.id);
}

function taken(state: 'lost' | 'completed'): AbortedError {
  return state === 'lost'
    ? new AbortedError('lease_lost', 'the lease ran out and another process has taken the event')
    : new AbortedError('completed_elsewhere', 'another process has completed the event');
}

const COMPLETING: Warning = 'completion_pending: the store did not take the completion before the deadline';
