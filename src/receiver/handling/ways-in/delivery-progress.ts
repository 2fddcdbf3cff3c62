import { UnavailableError } from '../../errors.ts';
import {
  type AcceptedOutcome,
  type Answer,
  accept,
  isSuccess,
  refuse,
  statusOf,
} from '../../outcomes/outcome.ts';
import type { Report, ReportSource, Warning } from '../../outcomes/report.ts';
import type { Settings } from '../../settings.ts';
import { Deadline } from '../../timing/deadline.ts';
import { performance } from '../../timing/process-clock.ts';
import type { Run } from '../run/run.ts';
import type { FollowedRun } from '../run/runs-in-flight.ts';

/** The facts that are known so far about a delivery, a replay or a job. Its report is created from them. */
export class DeliveryProgress {
  /** The name of the receiver. */
  readonly receiver: string | undefined;
  readonly receivedAt: number;
  readonly deadline: Deadline;
  readonly warnings: Warning[] = [];
  /** The receiver was closing when the delivery came. */
  readonly closing: boolean;
  /** The `source` of the report. Only a delivery has a sender that waits. */
  readonly source: ReportSource;
  keyIndex: number | undefined;
  /** True once the body has been read to its end. */
  bodyRead = false;
  event: { readonly id?: string | undefined; readonly type?: string | undefined } | undefined;
  /** The event is so old that no retry can be counted on. */
  finalByAge = false;
  run: Run | undefined;
  /** The run is that of another delivery. */
  joined = false;
  /** The answer had to be given before the run had ended. */
  unfinished = false;
  answerSent = false;

  constructor(
    { name, now, deadlineMs }: Pick<Settings, 'name' | 'now' | 'deadlineMs'>,
    source: ReportSource,
    closing = false,
  ) {
    this.receiver = name;
    this.receivedAt = now();
    this.deadline = new Deadline(deadlineMs);
    this.source = source;
    this.closing = closing;
  }

  /** Sets the run that the answer comes from, and returns it. */
  follow({ run, joined }: FollowedRun): Run {
    this.run = run;
    this.joined = joined;
    return run;
  }
}

/** Throws if the receiver is closing. Call it once the event is known, so that the event can be parked. */
export function checkNotClosing({ closing }: DeliveryProgress): void {
  if (closing) throw new UnavailableError('closing', 'the receiver is closing');
}

/** True if the run itself has handled the event, so that another delivery of it is a duplicate. */
const HAS_HANDLED: Readonly<Record<AcceptedOutcome, boolean>> = {
  processed: true,
  queued: true,
  duplicate: false,
  ignored: false,
  parked: false,
};

/** Turns the answer of a run into that of one delivery: if the delivery joined, a success is a duplicate. */
export function answerTo({ joined }: DeliveryProgress, answer: Answer): Answer {
  if (!joined) return answer;
  if (isSuccess(answer)) return HAS_HANDLED[answer.outcome] ? accept('duplicate', answer.id) : answer;
  if (answer.error.code !== 'deadline_reached') return answer;
  return refuse(
    new UnavailableError('event_running', 'another delivery of this event is still being handled'),
  );
}

/** Creates the report of an answer. `late` is true if the delivery was answered before its run ended. */
export function toReport(answer: Answer, progress: DeliveryProgress, late: boolean): Report {
  const { run, joined, event, source } = progress;
  const attempted = run?.progress.attempt !== undefined;
  const id = event?.id ?? (isSuccess(answer) ? answer.id : undefined);
  const isLast = progress.finalByAge || (attempted && run.progress.final);
  return {
    receiver: progress.receiver,
    outcome: answer.outcome,
    source,
    runId: joined ? undefined : run?.runId,
    status: statusOf(answer),
    code: answer.error?.code,
    event: id === undefined ? undefined : { id, type: event?.type },
    attempt: run?.progress.attempt,
    final: attempted ? run.progress.final : undefined,
    late,
    answerSent: progress.answerSent,
    receivedAt: progress.receivedAt,
    durationMs: performance.now() - progress.deadline.startedAt,
    endpointAtRisk: !isSuccess(answer) && source === 'delivery' && isLast,
    warnings: allWarnings(progress.warnings, run?.warningsNow),
    error: answer.error,
    keyIndex: progress.keyIndex,
    handlers: joined || run === undefined ? [] : run.progress.reports,
  };
}

/** Leaves out repetitions, because a store that fails is called again and again. */
function allWarnings(own: readonly Warning[], ofRun: readonly Warning[] = []): readonly Warning[] {
  return own.length + ofRun.length === 0 ? [] : [...new Set(own), ...new Set(ofRun)];
}
