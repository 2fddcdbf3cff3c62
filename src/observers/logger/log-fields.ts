import { inspect } from 'node:util';
import { oneLine } from '../../receiver/outcomes/one-line.ts';
import type { Outcome } from '../../receiver/outcomes/outcome.ts';
import type { HandlerReport, Report, ReportedEvent } from '../../receiver/outcomes/report.ts';
import { stackFramesOf } from '../../receiver/outcomes/stack-frames.ts';
import type { ReportCode } from '../../receiver/refusals.ts';
import { messageOf } from '../../receiver/values/foreign-values.ts';

/**
 * The fields of a line. A field that would be false, empty or unknown is undefined. Times are in
 * milliseconds.
 */
export interface LogFields {
  /** The option `name` of the receiver. */
  readonly receiver?: string | undefined;
  /** The name of the provider, if it is not the default one. */
  readonly provider?: string | undefined;
  /** The result of the delivery. */
  readonly outcome?: Outcome | undefined;
  /** The origin, if it is not a delivery. */
  readonly source?: 'replay' | 'job' | 'accept' | 'rerun' | undefined;
  /** The place that the event was fetched from: `source` of `receiver.accept`. */
  readonly acceptedFrom?: string | undefined;
  /** The name and the reason of a rerun. */
  readonly rerun?: Report['rerun'];
  /** The HTTP status of the answer. */
  readonly status?: number | undefined;
  /** The code of the error. */
  readonly code?: ReportCode | undefined;
  /** The id, the type and the account, as far as they could be read from an authentic request. */
  readonly event?: Pick<ReportedEvent, 'id' | 'type' | 'account'> | undefined;
  /** The number of the attempt, from 1. */
  readonly attempt?: number | undefined;
  /** True if no further attempt could be counted on. */
  readonly final?: true | undefined;
  /** True if the run ended after its delivery had been answered. */
  readonly late?: true | undefined;
  /** The time from the arrival of the delivery to the report. */
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

/** Fields that a console prints as one line of JSON. It would print a plain object on several lines. */
class OneLineFields {
  [inspect.custom](): string {
    return JSON.stringify(this);
  }
}

/** The fields of the line about a report. */
export function toLogFields(report: Report, provider: string | undefined): LogFields {
  const { event, error, warnings, handlers, rerun } = report;
  return Object.assign(new OneLineFields(), {
    receiver: report.receiver && oneLine(report.receiver),
    provider,
    outcome: report.outcome,
    source: report.source === 'delivery' ? undefined : report.source,
    acceptedFrom: report.acceptedFrom && oneLine(report.acceptedFrom),
    rerun: rerun && { run: oneLine(rerun.run), reason: rerun.reason && oneLine(rerun.reason) },
    status: report.status,
    code: report.code,
    event: event && toEventFields(event),
    attempt: report.attempt,
    final: report.final || undefined,
    late: report.late || undefined,
    durationMs: rounded(report.durationMs),
    endpointAtRisk: report.endpointAtRisk || undefined,
    warnings: warnings.length === 0 ? undefined : warnings.map(oneLine),
    handlers: handlers.length === 0 ? undefined : handlers.map(toHandlerFields),
    error: error && {
      message: oneLine(messageOf(error)),
      stack: stackFramesOf(error).join(' ') || undefined,
    },
  });
}

function toEventFields({ id, type, account }: ReportedEvent): LogFields['event'] {
  const fields = { id: oneLine(id), type: type && oneLine(type) };
  return account === undefined ? fields : { ...fields, account: oneLine(account) };
}

function toHandlerFields({ name, ok, durationMs, keyWaitMs, skipped }: HandlerReport): HandlerReport {
  return {
    name: name && oneLine(name),
    ok,
    durationMs: rounded(durationMs),
    keyWaitMs: keyWaitMs === undefined ? undefined : rounded(keyWaitMs),
    skipped,
  };
}

/** Rounds to tenths of a millisecond: further digits take time to write, and do not help. */
function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}
