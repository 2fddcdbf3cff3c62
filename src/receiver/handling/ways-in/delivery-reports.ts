import type { TypeLabels } from '../../events/type-rules.ts';
import type { JournalWriter } from '../../journal/journal-writer.ts';
import { type Answer, isSuccess, statusOf } from '../../outcomes/outcome.ts';
import type { PendingWarnings } from '../../outcomes/pending-warnings.ts';
import type { ObserveOptions, Observer, Report, Warning } from '../../outcomes/report.ts';
import type { Reporter } from '../../outcomes/reporter.ts';
import type { CheckedProvider } from '../../provider/checked-provider.ts';
import type { EventMembers } from '../../provider/event-identity.ts';
import type { Delivery } from '../../request/delivery.ts';
import { waitUntil } from '../../request/delivery-functions.ts';
import type { Activity } from '../../timing/activity.ts';
import { performance } from '../../timing/process-clock.ts';
import type { Run } from '../run/run.ts';
import type { Answered } from './answered.ts';
import type { Arrival } from './arrival.ts';
import { recordOf } from './journal-record.ts';

/** The longest time that a platform is asked to let the process live for the journal. */
const LONGEST_FLUSH_MS = 5_000;

/** The facts of an answer that `receiver.health()` shows. */
interface LastDelivery {
  readonly receivedAt: number;
  readonly outcome: Report['outcome'];
  readonly code: Report['code'];
}

/**
 * Makes the reports of deliveries, replays, jobs, accepted events and reruns, and sends them to the
 * observers.
 */
export class DeliveryReports {
  readonly #reporter: Reporter;
  readonly #labelsOf: (type: string) => TypeLabels;
  readonly #activity: Activity;
  readonly #warnings: PendingWarnings;
  readonly #journal: JournalWriter | undefined;
  #lastDelivery: LastDelivery | undefined;

  constructor(
    reporter: Reporter,
    labelsOf: (type: string) => TypeLabels,
    activity: Activity,
    warnings: PendingWarnings,
    journal: JournalWriter | undefined,
  ) {
    this.#reporter = reporter;
    this.#labelsOf = labelsOf;
    this.#activity = activity;
    this.#warnings = warnings;
    this.#journal = journal;
  }

  /** The last delivery whose signature was right. */
  get lastDelivery(): LastDelivery | undefined {
    return this.#lastDelivery;
  }

  observe(observer: Observer, options: ObserveOptions): void {
    this.#reporter.add(observer, options);
  }

  /** `answerSent` is true if the sender still waits for it. */
  report(arrival: Arrival, answered: Answered, { answerSent }: { readonly answerSent: boolean }): Report {
    if (answered.keyIndex !== undefined) {
      const { outcome, error } = answered.answer;
      this.#lastDelivery = { receivedAt: arrival.receivedAt, outcome, code: error?.code };
    }
    this.#record(arrival, answered, false);
    const report = this.#toReport(arrival, answered, { answerSent, late: false });
    this.#reporter.emit(report);
    return report;
  }

  /** Asks the platform to let the process write the journal, if it may stop the process after the answer. */
  keepAliveToRecord(delivery: Delivery, { keyIndex }: Answered): void {
    const isRecorded = this.#journal !== undefined && keyIndex !== undefined;
    if (isRecorded && delivery.waitUntil !== undefined)
      waitUntil(delivery, this.#journal.flush(LONGEST_FLUSH_MS), this.#warnings.addMisuse);
  }

  #record(arrival: Arrival, answered: Answered, isLate: boolean): void {
    const record = this.#journal && recordOf(arrival, answered, isLate);
    if (record !== undefined) this.#journal?.add(record);
  }

  /**
   * Reports the end of a run that goes on after its delivery. Does nothing if the delivery joined the run.
   */
  reportEndLater(
    delivery: Delivery,
    arrival: Arrival,
    answered: Answered,
    sending: { readonly answerSent: boolean },
  ): void {
    const { followed } = answered;
    if (followed === undefined || followed.joined) return;
    this.#activity.begin();
    const reported = this.#reportEnd(followed.run, arrival, answered, sending).finally(() =>
      this.#activity.end(),
    );
    const isStopped = delivery.waitUntil !== undefined;
    const recorded = isStopped ? reported.then(() => this.#journal?.flush(LONGEST_FLUSH_MS)) : reported;
    waitUntil(delivery, recorded, this.#warnings.addMisuse);
  }

  async #reportEnd(
    run: Run,
    arrival: Arrival,
    answered: Answered,
    { answerSent }: { readonly answerSent: boolean },
  ): Promise<void> {
    const answer = await run.answer.settled();
    if (run.progress.attempt !== undefined) {
      const ended = { ...answered, answer };
      this.#record(arrival, ended, true);
      this.#reporter.emit(this.#toReport(arrival, ended, { answerSent, late: true }));
    }
    await run.keysReleased();
  }

  /** Creates the report of an answer. `late` is true for the end of a run that went on after the answer. */
  #toReport(
    arrival: Arrival,
    { answer, event, followed, isFinalByAge = false, keyIndex }: Answered,
    { answerSent, late }: Pick<Report, 'answerSent' | 'late'>,
  ): Report {
    const { deadline, names, provider, receivedAt, receiver, source, warnings } = arrival;
    const { run, joined = false } = followed ?? {};
    const attempted = run?.progress.attempt !== undefined;
    const isLast = isFinalByAge || (attempted && run.progress.final);
    return {
      receiver,
      provider: provider.name,
      outcome: answer.outcome,
      source,
      ...names,
      runId: joined ? undefined : run?.runId,
      status: statusOf(answer),
      code: answer.error?.code,
      event: reportedEvent(provider, event, answer),
      typeLabels: event?.type === undefined ? undefined : this.#labelsOf(event.type),
      attempt: run?.progress.attempt,
      final: attempted ? run.progress.final : undefined,
      late,
      answerSent,
      receivedAt,
      durationMs: performance.now() - deadline.startedAt,
      endpointAtRisk: provider.cutsOff && !isSuccess(answer) && source === 'delivery' && isLast,
      warnings: allWarnings(warnings, run?.warningsNow),
      error: answer.error,
      keyIndex,
      handlers: joined || run === undefined ? [] : run.progress.reports,
    };
  }
}

/** The event of a report; undefined if its id could not be read. */
function reportedEvent(
  { keyOf }: CheckedProvider,
  event: EventMembers | undefined,
  answer: Answer,
): Report['event'] {
  const { id = answer.id, type, account } = event ?? {};
  if (id === undefined) return undefined;
  // An event without an id was parked under the key that the answer has.
  const key = event?.id === undefined ? id : keyOf({ id, account });
  if (key === id && account === undefined) return { id, type };
  return { id, type, ...(key !== id && { key }), ...(account !== undefined && { account }) };
}

/** Leaves out repetitions, because a store that fails is called again and again. */
function allWarnings(own: readonly Warning[], ofRun: readonly Warning[] = []): readonly Warning[] {
  return own.length + ofRun.length === 0 ? [] : [...new Set(own), ...new Set(ofRun)];
}
