import type { RenewResult } from '../../dedupe/store.ts';
import { type PosthornError, UnavailableError } from '../../errors.ts';
import { type Answer, accept, type ReportedError, refuse, toReportedError } from '../../outcomes/outcome.ts';
import { performance } from '../../timing/process-clock.ts';
import type { EventLetter } from '../letters/event-letter.ts';
import type { RunInput } from './run-input.ts';

/** The state of a run, with the data that belongs to it. */
export type RunState =
  /** The event is being claimed, or its lease is being confirmed. */
  | { readonly step: 'claiming' }
  /** Another process handles the event. `otherEndsAt` is the end of its lease: see `Busy`. */
  | { readonly step: 'waiting'; readonly otherEndsAt: number }
  /** The dead letter of a last attempt is being stored. */
  | { readonly step: 'storing' }
  /** The run waits for permits, or its handlers for their keys. */
  | { readonly step: 'acquiring' }
  /** The schema runs. */
  | { readonly step: 'validating' }
  /** The handlers run. Then the event is enqueued, if workers have handlers for it. */
  | { readonly step: 'running' }
  /** The handlers have succeeded, and the completion is being recorded. */
  | { readonly step: 'completing' }
  /** The attempt has failed: the event is parked if no other attempt follows, and its id is released. */
  | { readonly step: 'failing'; readonly error: ReportedError }
  /**
   * The answer is known, and the dead letter of a handled event is being removed. An aborted run goes back to
   * `completing` if its handlers succeed after all.
   */
  | { readonly step: 'ended'; readonly answer: Answer };

/** The rules that depend on the state of a run. */
interface StateRules {
  /**
   * True if handlers may run from now on, here or in another process: a dead letter that is stored now is
   * marked as running. False during the claim, because nothing says yet that a process will have the event.
   */
  readonly mayBeRunning: boolean;
  /** True if the schema or the handlers run here. */
  readonly isRunning: boolean;
  /** True if the handlers have ended, or will not run. */
  readonly hasEnded: boolean;
  /**
   * The results of a renewal that abort the handlers. Before they begin, the run checks its lease itself.
   * Once they have ended, `completed` may be its own completion, but `lost` needs a warning.
   */
  readonly abortedBy: readonly RenewResult['state'][];
  /** The answer to a delivery whose deadline has come. */
  readonly answer: (input: RunInput, letter: EventLetter | undefined) => Answer;
}

const open = { mayBeRunning: true, isRunning: false, hasEnded: false, abortedBy: [] };
const over = { mayBeRunning: false, isRunning: false, hasEnded: true, abortedBy: [] };

/** Returns the rules of a state. */
export function rulesOf(state: RunState): StateRules {
  switch (state.step) {
    case 'claiming':
      return { ...open, mayBeRunning: false, answer: parkedOr(storeIsSilent) };
    case 'waiting':
      return { ...open, answer: () => refuse(runningElsewhere(state.otherEndsAt)) };
    case 'storing':
    case 'acquiring':
      return {
        ...open,
        answer: parkedOr(() => tooLate('the deadline came before the handlers could start')),
      };
    case 'validating':
      return { ...open, isRunning: true, answer: parkedOr(stillRunning) };
    case 'running':
      return { ...open, isRunning: true, abortedBy: ['lost', 'completed'], answer: parkedOr(stillRunning) };
    case 'completing':
      return {
        ...over,
        abortedBy: ['lost'],
        answer: ({ identity, origin }) => accept(origin.successOutcome, identity.id),
      };
    case 'failing':
      return { ...over, answer: parkedOr(() => state.error) };
    case 'ended':
      return {
        ...over,
        mayBeRunning: state.answer.error?.code === 'event_running',
        answer: () => state.answer,
      };
  }
}

function parkedOr(error: () => PosthornError): StateRules['answer'] {
  return ({ identity }, letter) =>
    letter?.storedAs === undefined
      ? refuse(error())
      : accept('parked', identity.id, toReportedError(error()));
}

function storeIsSilent(): PosthornError {
  return new UnavailableError('store_unavailable', 'the store did not answer before the deadline');
}

/** Says when the lease ends, because a retry may come before the lease of a killed process has ended. */
function runningElsewhere(otherEndsAt: number): PosthornError {
  const msLeft = Math.ceil(otherEndsAt - performance.now());
  const end = msLeft > 0 ? `; if it was killed, its claim ends in ${msLeft} ms` : '';
  return new UnavailableError('event_running', `another process is still handling this event${end}`);
}

function stillRunning(): PosthornError {
  return tooLate('the handlers were still running at the deadline');
}

function tooLate(message: string): PosthornError {
  return new UnavailableError('deadline_reached', message);
}
