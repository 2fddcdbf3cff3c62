import type { TypeLabels } from '../events/type-rules.ts';
import type { ReportCode } from '../refusals.ts';
import type { Outcome, ReportedError } from './outcome.ts';

/**
 * The origin of a run: a delivery, a dead letter (`receiver.replay`), a job (`receiver.dispatch`), an event
 * that the application fetched (`receiver.accept`), or an entry of the journal (`receiver.rerun`).
 */
export type ReportSource = 'delivery' | 'replay' | 'job' | 'accept' | 'rerun';

/** One rerun: `receiver.rerun` runs handlers of a handled event once more. */
export interface Rerun {
  /** The option `run`, or the name that was made for this call: under it a handler runs once for an event. */
  readonly run: string;
  /** The option `reason`. */
  readonly reason?: string | undefined;
}

/** A report to observers about a delivery. Times are in milliseconds. */
export interface Report {
  /** The option `name` of the receiver. */
  readonly receiver?: string | undefined;
  /** The name of the provider. */
  readonly provider: string;
  /** The result of the delivery. */
  readonly outcome: Outcome;
  /** See {@link ReportSource}. */
  readonly source: ReportSource;
  /** Names the place that the event was fetched from: `source` of `receiver.accept`. */
  readonly acceptedFrom?: string | undefined;
  /** The name and the reason of a rerun, as its handlers get them in `context.rerun`. */
  readonly rerun?: Rerun | undefined;
  /**
   * The number of the run that this delivery or call began; runs are counted in each process, from 1.
   * The late report of the run has the same number. Absent if no run began, and for a concurrent duplicate,
   * which waited for the run of another delivery.
   */
  readonly runId?: number | undefined;
  /** The HTTP status of the answer. A late report has the status that would have been sent. */
  readonly status: number;
  /** The code of `error`, if the event was not processed. */
  readonly code?: ReportCode | undefined;
  /** The event, as far as it could be read from an authentic body. */
  readonly event?: ReportedEvent | undefined;
  /**
   * The type of the event for metrics, because an authentic event can have any type. One that is not in the
   * provider's list is `other`. Without a list it is the pattern of a handler that matches it, or `other`.
   */
  readonly typeLabels?: TypeLabels | undefined;
  /** The number of this attempt, from 1: see `attempt` of the context. Undefined if no attempt began. */
  readonly attempt?: number | undefined;
  /** True if no further attempt was certain: see `final` of the context. */
  readonly final?: boolean | undefined;
  /** True if the run ended after its delivery had been answered. An earlier report describes the answer. */
  readonly late: boolean;
  /**
   * False if the sender hung up before the answer. False also unless the source is `delivery`, because only a
   * delivery has a sender.
   */
  readonly answerSent: boolean;
  /** The arrival of the delivery, in milliseconds since the epoch. */
  readonly receivedAt: number;
  /** The time from the arrival to the report. */
  readonly durationMs: number;
  /**
   * True if the last attempt of this event was answered as failed: the service may now stop sending events.
   */
  readonly endpointAtRisk: boolean;
  /** Problems that did not change the outcome. */
  readonly warnings: readonly Warning[];
  /** Why the event was not processed. */
  readonly error?: ReportedError | undefined;
  /** The index of the signing key that matched. */
  readonly keyIndex?: number | undefined;
  /** The handlers that ended in this attempt. */
  readonly handlers: readonly HandlerReport[];
}

/** The event of a report. */
export interface ReportedEvent {
  /** The sender's id. */
  readonly id: string;
  /** The type. */
  readonly type?: string | undefined;
  /** The key of the event, as `event.key` of the context has it. Absent if it is the id as it stands. */
  readonly key?: string | undefined;
  /** The account of the sender. Absent if the receiver has one account. */
  readonly account?: string | undefined;
}

/** How one handler ended. */
export interface HandlerReport {
  /** The name that `on` was given. */
  readonly name?: string | undefined;
  /** False if the handler threw or rejected. */
  readonly ok: boolean;
  /** The time from its start to its end, without the wait for its key. */
  readonly durationMs: number;
  /** The time that it waited for its `concurrencyKey`, in milliseconds; undefined if it did not need one. */
  readonly keyWaitMs?: number | undefined;
  /**
   * The reason why the handler of an inbox was not run: it had handled the event before (`handled_before`),
   * or a newer one of the same `latest` key (`superseded`). The event counts as handled all the same.
   */
  readonly skipped?: 'handled_before' | 'superseded' | undefined;
}

/** The codes of all warnings; docs/errors.md explains each. */
export const warningCodes = [
  'dead_letters_missing',
  'dead_letters_exposed',
  'deadline_short',
  'memory_store_shared',
  'inbox_name_shared',
  'return_value_invalid',
  'claimed_nothing',
  'lease_lost',
  'lease_awaited',
  'key_overrun',
  'completion_pending',
  'release_failed',
  'dead_letter_not_stored',
  'dead_letter_not_read',
  'dead_letter_not_removed',
  'journal_failed',
  'journal_incomplete',
] as const;

/** The code that a {@link Warning} begins with. */
export type WarningCode = (typeof warningCodes)[number];

/** A problem that did not change the outcome, but needs attention: a code and an explanation. */
export type Warning = `${WarningCode}: ${string}`;

/** The code that a warning begins with. */
export function warningCodeOf(warning: Warning): string {
  return warning.slice(0, warning.indexOf(':'));
}

/** Receives each report. If it throws or rejects, the answer stays the same. */
export type Observer = (report: Report) => unknown;

/** Options of `receiver.observe`. */
export interface ObserveOptions {
  /**
   * If true, failures still go to `console.error`; false by default. Set it for an observer that counts or
   * traces, but prints nothing.
   */
  readonly keepDefaultLog?: boolean | undefined;
}
