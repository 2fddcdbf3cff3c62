import { type PosthornError, UnavailableError } from '../errors.ts';
import { type Answer, accept, type ReportedError, refuse } from '../outcomes/outcome.ts';

/** The progress of a run. */
export type RunState =
  /** The event is being claimed, or claimed again. */
  | { readonly step: 'claiming' }
  /** Another process handles the event. */
  | { readonly step: 'waiting' }
  /** The event is claimed, and the letter of a last attempt is written, or the run waits for permits. */
  | { readonly step: 'preparing' }
  /** The schema or the handlers run. */
  | { readonly step: 'validating' | 'running' }
  /** The handlers have succeeded, and the completion is being recorded. */
  | { readonly step: 'completing' }
  | { readonly step: 'completed'; readonly outcome: 'processed' | 'queued' | 'duplicate' }
  | { readonly step: 'failed'; readonly error: ReportedError };

/** The other facts that the answer at the deadline depends on. */
export interface RunFacts {
  /** The event's id. */
  readonly id: string;
  /** The outcome once its handlers have succeeded. */
  readonly success: 'processed' | 'queued';
  /** Whether its letter is stored by now. */
  readonly isParked: boolean;
  /** How long the claim of the other process still holds; 0 if that is unknown. */
  readonly msUntilOtherEnds: number;
}

/** Whether the handlers have ended, or will not run. */
export function hasEnded({ step }: RunState): boolean {
  return step === 'completing' || step === 'completed' || step === 'failed';
}

/** The answer to a delivery whose deadline has come before the end of the run. */
export function answerAtDeadline(state: RunState, facts: RunFacts): Answer {
  const { id, success, isParked, msUntilOtherEnds } = facts;
  switch (state.step) {
    case 'claiming':
      return refuse(
        new UnavailableError('store_unavailable', 'the store did not answer before the deadline'),
      );
    case 'waiting':
      return refuse(new UnavailableError('event_running', runningElsewhere(msUntilOtherEnds)));
    case 'preparing':
      return parkedOrRefused(
        id,
        isParked,
        new UnavailableError('deadline_reached', 'the deadline came before the handlers could start'),
      );
    case 'validating':
    case 'running':
      return parkedOrRefused(
        id,
        isParked,
        new UnavailableError('deadline_reached', 'the handlers were still running at the deadline'),
      );
    case 'completing':
      return accept(success, id);
    case 'completed':
      return accept(state.outcome, id);
    case 'failed':
      return parkedOrRefused(id, isParked, state.error);
  }
}

/** A retry may come before the claim of a killed process has ended. */
function runningElsewhere(msUntilOtherEnds: number): string {
  const end = `; if it was killed, its claim ends in ${Math.ceil(msUntilOtherEnds)} ms`;
  return `another process is still handling this event${msUntilOtherEnds > 0 ? end : ''}`;
}

function parkedOrRefused(id: string, isParked: boolean, error: PosthornError): Answer {
  const refused = refuse(error);
  return isParked ? accept('parked', id, refused.error) : refused;
}
