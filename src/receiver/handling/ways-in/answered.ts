import type { Authentic } from '../../authentication/authenticator.ts';
import { UnavailableError } from '../../errors.ts';
import { type AcceptedOutcome, type Answer, accept, isSuccess, refuse } from '../../outcomes/outcome.ts';
import type { EventMembers } from '../../provider/event-identity.ts';
import type { FollowedRun } from '../run/runs-in-flight.ts';

interface UnrunContent extends Pick<Authentic, 'rawBody' | 'headers'> {
  /** The arrival of the delivery that made the job. */
  readonly receivedAt?: number | undefined;
}

/** The answer to a delivery, a replay, a job, an accept or a rerun, with the facts for its report. */
export interface Answered {
  readonly answer: Answer;
  readonly event?: EventMembers | undefined;
  /** The body and the headers of a delivery or a job that no run has, for the journal. */
  readonly content?: UnrunContent | undefined;
  /** The run that the answer comes from. */
  readonly followed?: FollowedRun | undefined;
  /** The index of the signing key that matched. */
  readonly keyIndex?: number | undefined;
  /** True if the event is so old that no retry is certain. */
  readonly isFinalByAge?: boolean | undefined;
}

/** The answer to a delivery. */
export interface AnsweredDelivery extends Answered {
  /** True if the body was read to its end. */
  readonly bodyRead: boolean;
  /** True if the answer had to be given before the run had ended. */
  readonly isUnfinished: boolean;
}

/** True if the run itself has handled the event, so that another delivery of it is a duplicate. */
const HAS_HANDLED: Readonly<Record<AcceptedOutcome, boolean>> = {
  processed: true,
  queued: true,
  handshake: false,
  duplicate: false,
  ignored: false,
  parked: false,
};

/** Returns true if each handler of a run found a record in its inbox, so that none has run. */
export function foundRecordsOnly({ progress: { reports } }: Pick<FollowedRun['run'], 'progress'>): boolean {
  return reports.length > 0 && reports.every(({ skipped }) => skipped === 'handled_before');
}

/** Turns the answer of a run into that of one delivery: if the delivery joined, a success is a duplicate. */
export function answerTo({ joined }: FollowedRun, answer: Answer): Answer {
  if (!joined) return answer;
  if (isSuccess(answer))
    return HAS_HANDLED[answer.outcome] && answer.id !== undefined ? accept('duplicate', answer.id) : answer;
  if (answer.error.code !== 'deadline_reached') return answer;
  return refuse(
    new UnavailableError('event_running', 'another delivery of this event is still being handled'),
  );
}
