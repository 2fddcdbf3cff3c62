import { type Answer, isSuccess, statusOf } from '../outcomes/outcome.ts';
import type { Report, ReportSource, Warning } from '../outcomes/report.ts';
import type { Run } from './run.ts';

/** What becomes known of a delivery on its way; the source of its report. */
export interface Trace {
  readonly receivedAt: number;
  /** By the monotonic clock, as `deadline` is. */
  readonly startedAt: number;
  deadline: number;
  /** The time from `startedAt` to `deadline`. */
  deadlineMs: number;
  readonly warnings: Warning[];
  /** The receiver was closing when the delivery came. */
  readonly closing: boolean;
  /** What is handled. Only a delivery has a sender who waits. */
  readonly source: ReportSource;
  keyIndex: number | undefined;
  /** Whether the body has been read to its end. */
  bodyRead: boolean;
  event: { readonly id?: string | undefined; readonly type?: string | undefined } | undefined;
  /** By the age of the event, no retry can be counted on. */
  finalByAge: boolean;
  run: Run | undefined;
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
  { closing, source }: Pick<Trace, 'closing' | 'source'>,
): Trace {
  const startedAt = performance.now();
  return {
    receivedAt,
    startedAt,
    deadline: startedAt + deadlineMs,
    deadlineMs,
    warnings: [],
    closing,
    source,
    keyIndex: undefined,
    bodyRead: false,
    event: undefined,
    finalByAge: false,
    run: undefined,
    joined: false,
    unfinished: false,
    answerSent: false,
  };
}

/** Brings the deadline forward, to `timeLimitMs` after the arrival; never puts it off. */
export function shortenDeadline(trace: Trace, timeLimitMs: number): void {
  trace.deadlineMs = Math.min(trace.deadlineMs, Math.max(0, timeLimitMs));
  trace.deadline = trace.startedAt + trace.deadlineMs;
}

/** Tells of an answer; `late` when it is the end of a run whose delivery was answered before. */
export function toReport(answer: Answer, trace: Trace, late: boolean): Report {
  const { run, joined, event } = trace;
  const attempted = run?.attempt !== undefined;
  const id = event?.id ?? (isSuccess(answer) ? answer.id : undefined);
  return {
    outcome: answer.outcome,
    source: trace.source,
    runId: joined ? undefined : run?.runId,
    status: statusOf(answer),
    code: answer.error?.code,
    event: id === undefined ? undefined : { id, type: event?.type },
    attempt: run?.attempt,
    final: attempted ? run.final : undefined,
    late,
    answerSent: trace.answerSent,
    receivedAt: trace.receivedAt,
    durationMs: performance.now() - trace.startedAt,
    endpointAtRisk:
      !isSuccess(answer) && trace.source === 'delivery' && (trace.finalByAge || (attempted && run.final)),
    warnings: allWarnings(trace.warnings, run?.warnings),
    error: answer.error,
    keyIndex: trace.keyIndex,
    handlers: joined || run === undefined ? [] : run.progress.reports,
  };
}

/** Each of them once: what a store refuses is asked for again and again. */
function allWarnings(own: readonly Warning[], ofRun: readonly Warning[] = []): readonly Warning[] {
  return own.length + ofRun.length === 0 ? [] : [...new Set(own), ...new Set(ofRun)];
}
