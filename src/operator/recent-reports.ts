import type { Report } from '../receiver/outcomes/report.ts';
import { messageOf } from '../receiver/values/foreign-values.ts';

/** The reports about events that are kept. */
const MOST_EVENTS = 200;

/** The reports without an event that are kept: a stranger can cause any number of them. */
const MOST_OTHERS = 20;

/** A report as it is kept and shown: without errors, which may hold whole requests. */
export interface ShownReport
  extends Pick<
    Report,
    | 'outcome'
    | 'source'
    | 'status'
    | 'code'
    | 'event'
    | 'attempt'
    | 'final'
    | 'late'
    | 'answerSent'
    | 'receivedAt'
    | 'durationMs'
    | 'endpointAtRisk'
    | 'warnings'
    | 'rerun'
    | 'handlers'
  > {
  /** The message of the error. */
  readonly message?: string | undefined;
}

/** Keeps the last reports of a receiver in this process. Strangers push no event out. */
export class RecentReports {
  /** The time when it began to observe the receiver. */
  readonly since: number;
  readonly #events: ShownReport[] = [];
  readonly #others: ShownReport[] = [];

  constructor(since: number) {
    this.since = since;
  }

  add(report: Report): void {
    const [kept, most] =
      report.event === undefined ? [this.#others, MOST_OTHERS] : [this.#events, MOST_EVENTS];
    kept.push(shown(report));
    if (kept.length > most) kept.shift();
  }

  /** The reports, the latest first. */
  get latest(): readonly ShownReport[] {
    // The sort keeps the order of reports of one millisecond.
    const all = [...this.#events, ...this.#others].reverse();
    return all.sort((one, other) => other.receivedAt - one.receivedAt);
  }
}

function shown(report: Report): ShownReport {
  const { outcome, source, status, code, error, event, attempt, final, late, answerSent } = report;
  const { receivedAt, durationMs, endpointAtRisk, warnings, rerun, handlers } = report;
  return {
    outcome,
    source,
    status,
    code,
    message: error && messageOf(error),
    event,
    attempt,
    final,
    late,
    answerSent,
    receivedAt,
    durationMs: Math.round(durationMs),
    endpointAtRisk,
    warnings,
    rerun,
    handlers,
  };
}
