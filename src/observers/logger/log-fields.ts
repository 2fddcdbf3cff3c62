import { inspect } from 'node:util';
import { oneLine } from '../../receiver/outcomes/one-line.ts';
import type { Outcome, ReportCode } from '../../receiver/outcomes/outcome.ts';
import type { HandlerReport, Report } from '../../receiver/outcomes/report.ts';
import { stackFramesOf } from '../../receiver/outcomes/stack-frames.ts';
import { messageOf } from '../../receiver/values/foreign-values.ts';

/**
 * The fields of a line. A field that would be false, empty or unknown is undefined. Times are in
 * milliseconds.
 */
export interface LogFields {
  /** The result of the delivery. */
  readonly outcome?: Outcome | undefined;
  /** The origin, if it is not a delivery. */
  readonly source?: 'replay' | 'job' | undefined;
  /** The HTTP status of the answer. */
  readonly status?: number | undefined;
  /** The code of the error. */
  readonly code?: ReportCode | undefined;
  /** The id and the type, as far as they could be read from an authentic body. */
  readonly event?: { readonly id: string; readonly type: string | undefined } | undefined;
  /** The number of the attempt, from 1. */
  readonly attempt?: number | undefined;
  /** True if no further attempt could be counted on. */
  readonly final?: true | undefined;
  /** True if the run ended after its delivery had been answered. */
  readonly late?: true | undefined;
  /** From the arrival of the delivery to the report. */
  readonly durationMs?: number | undefined;
  /** True if the service may now stop sending events. */
  readonly endpointAtRisk?: true | undefined;
  /** Problems that did not change the outcome, each as `code: text`. */
  readonly warnings?: readonly string[] | undefined;
  /** The handlers that ended in this attempt. */
  readonly handlers?: readonly HandlerReport[] | undefined;
  /**
   * The reason why the event was not processed: a message, and the frames of the user's code in the stacks,
   * without the messages of these.
   */
  readonly error?: { readonly message: string; readonly stack: string | undefined } | undefined;
  /** The number of deliveries with this code that did not get their own line in the last minute. */
  readonly leftOut?: number | undefined;
}

/** The fields of the line about a report. */
export function toLogFields(report: Report): LogFields {
  return new ReportFields(report);
}

/** Fields that a console prints as one line of JSON. It would print a plain object on several lines. */
class ReportFields implements LogFields {
  readonly outcome: LogFields['outcome'];
  readonly source: LogFields['source'];
  readonly status: LogFields['status'];
  readonly code: LogFields['code'];
  readonly event: LogFields['event'];
  readonly attempt: LogFields['attempt'];
  readonly final: LogFields['final'];
  readonly late: LogFields['late'];
  readonly durationMs: LogFields['durationMs'];
  readonly endpointAtRisk: LogFields['endpointAtRisk'];
  readonly warnings: LogFields['warnings'];
  readonly handlers: LogFields['handlers'];
  readonly error: LogFields['error'];

  constructor(report: Report) {
    const { event, error, warnings, handlers } = report;
    this.outcome = report.outcome;
    this.source = report.source === 'delivery' ? undefined : report.source;
    this.status = report.status;
    this.code = report.code;
    this.event = event && { id: oneLine(event.id), type: event.type && oneLine(event.type) };
    this.attempt = report.attempt;
    this.final = report.final || undefined;
    this.late = report.late || undefined;
    this.durationMs = rounded(report.durationMs);
    this.endpointAtRisk = report.endpointAtRisk || undefined;
    this.warnings = warnings.length === 0 ? undefined : warnings.map(oneLine);
    this.handlers = handlers.length === 0 ? undefined : handlers.map(toHandlerFields);
    this.error = error && { message: oneLine(messageOf(error)), stack: stackOf(error) };
  }

  [inspect.custom](): string {
    return JSON.stringify(this);
  }
}

function toHandlerFields({ name, ok, durationMs, skipped }: HandlerReport): HandlerReport {
  return { name: name && oneLine(name), ok, durationMs: rounded(durationMs), skipped };
}

function stackOf(error: NonNullable<Report['error']>): string | undefined {
  return stackFramesOf(error).join(' ') || undefined;
}

/** Rounds to tenths of a millisecond: further digits take time to write, and do not help. */
function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}
