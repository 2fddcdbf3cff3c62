import type { Answer } from '../../outcomes/outcome.ts';
import type { PendingWarnings } from '../../outcomes/pending-warnings.ts';
import type { ObserveOptions, Observer, Report } from '../../outcomes/report.ts';
import type { Reporter } from '../../outcomes/reporter.ts';
import type { Delivery } from '../../request/delivery.ts';
import { waitUntil } from '../../request/delivery-functions.ts';
import type { Activity } from '../../timing/activity.ts';
import { type DeliveryProgress, toReport } from './delivery-progress.ts';

/** The facts of an answer that `receiver.health()` shows. */
interface LastDelivery {
  readonly receivedAt: number;
  readonly outcome: Report['outcome'];
  readonly code: Report['code'];
}

/** Makes the reports of deliveries, replays and jobs, and sends them to the observers. */
export class DeliveryReports {
  readonly #reporter: Reporter;
  readonly #activity: Activity;
  readonly #warnings: PendingWarnings;
  #lastDelivery: LastDelivery | undefined;

  constructor(reporter: Reporter, activity: Activity, warnings: PendingWarnings) {
    this.#reporter = reporter;
    this.#activity = activity;
    this.#warnings = warnings;
  }

  /** The last delivery whose signature was right. */
  get lastDelivery(): LastDelivery | undefined {
    return this.#lastDelivery;
  }

  observe(observer: Observer, options: ObserveOptions): void {
    this.#reporter.add(observer, options);
  }

  /** Reports an answer, and returns the report. */
  report(answer: Answer, progress: DeliveryProgress): Report {
    if (progress.keyIndex !== undefined) {
      const { outcome, error } = answer;
      this.#lastDelivery = { receivedAt: progress.receivedAt, outcome, code: error?.code };
    }
    const report = toReport(answer, progress, false);
    this.#reporter.emit(report);
    return report;
  }

  /** Reports the end of a run that goes on after its delivery. Only the delivery that started it does. */
  reportEndLater(delivery: Delivery, progress: DeliveryProgress): void {
    this.#activity.begin();
    const reported = this.#reportEnd(progress).finally(() => this.#activity.end());
    waitUntil(delivery, reported, this.#warnings.addMisuse);
  }

  async #reportEnd(progress: DeliveryProgress): Promise<void> {
    const answer = await progress.run?.answer.settled();
    if (answer !== undefined && progress.run?.progress.attempt !== undefined) {
      this.#reporter.emit(toReport(answer, progress, true));
    }
    await progress.run?.keysReleased();
  }
}
