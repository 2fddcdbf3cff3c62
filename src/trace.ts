import { type Answer, isSuccess, statusOf } from './outcome.ts';
import type { Report, Warning } from './report.ts';
import type { Run } from './run.ts';

/** What becomes known of a delivery on its way; the source of its report. */
export interface Trace {
  readonly receivedAt: number;
  /** By the monotonic clock, as `deadline` is. */
  readonly startedAt: number;
  readonly deadline: number;
  readonly warnings: Set<Warning>;
  /** The receiver was closing when the delivery came. */
  readonly closing: boolean;
  /** It is a letter's, which no sender waits for. */
  readonly isReplay: boolean;
  keyIndex?: number;
  /** Whether the body has been read to its end. */
  bodyRead: boolean;
  event?: { readonly id?: string | undefined; readonly type?: string | undefined };
  /** By the age of the event, no retry can be counted on. */
  finalByAge: boolean;
  run?: Run;
  /** The run is that of another delivery. */
  joined: boolean;
  /** The answer had to be given before the run had ended. */
  unfinished: boolean;
  answerSent: boolean;
}

/** Begins the trace of a delivery that has arrived just now. */
export function beginTrace(
  receivedAt: number,
  deadlineMs: number,
  { closing, isReplay }: Pick<Trace, 'closing' | 'isReplay'>,
): Trace {
  const startedAt = performance.now();
  return {
    receivedAt,
    startedAt,
    deadline: startedAt + deadlineMs,
    warnings: new Set(),
    closing,
    isReplay,
    bodyRead: false,
    finalByAge: false,
    joined: false,
    unfinished: false,
    answerSent: false,
  };
}

export function timeLeftMs(trace: Trace): number {
  return Math.max(0, trace.deadline - performance.now());
}

/** Tells of an answer; `late` when it is the end of a run whose delivery was answered before. */
export function toReport(answer: Answer, trace: Trace, late: boolean): Report {
  const { run, joined, event } = trace;
  const attempted = run?.attempt !== undefined;
  const id = event?.id ?? (isSuccess(answer) ? answer.id : undefined);
  return {
    outcome: answer.outcome,
    status: statusOf(answer),
    code: answer.error?.code,
    event: id === undefined ? undefined : { id, type: event?.type },
    attempt: run?.attempt,
    final: attempted ? run.final : undefined,
    late,
    answerSent: trace.answerSent,
    receivedAt: trace.receivedAt,
    durationMs: performance.now() - trace.startedAt,
    endpointAtRisk: !isSuccess(answer) && !trace.isReplay && (trace.finalByAge || (attempted && run.final)),
    warnings: [...trace.warnings, ...(run?.warnings ?? [])],
    error: answer.error,
    keyIndex: trace.keyIndex,
    handlers: joined ? [] : [...(run?.progress.reports ?? [])],
  };
}
