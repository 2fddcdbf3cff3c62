import { ConfigurationError, show } from '../errors.ts';
import type { Observer, Report, Warning } from './report.ts';
import { ReportLog } from './report-log.ts';

/** Hands reports to the observers; without any, what is no plain success goes to `console.error`. */
export class Reporter {
  readonly #observers: Observer[] = [];
  readonly #log = new ReportLog();
  #firstWarnings: readonly Warning[];

  /** `firstWarnings` go with the first report. */
  constructor(firstWarnings: readonly Warning[]) {
    this.#firstWarnings = firstWarnings;
  }

  add(observer: Observer): void {
    if (typeof observer !== 'function') {
      throw new ConfigurationError(`an observer must be a function, got ${show(observer)}`);
    }
    this.#observers.push(observer);
  }

  /** Never throws. Anybody can cause reports that are not authentic, so only a few of those are printed. */
  emit(delivery: Report, { isAuthentic }: { readonly isAuthentic: boolean }): void {
    const report =
      this.#firstWarnings.length === 0
        ? delivery
        : { ...delivery, warnings: [...this.#firstWarnings, ...delivery.warnings] };
    this.#firstWarnings = [];
    const isLimited = !isAuthentic || report.outcome === 'rejected';
    if (this.#observers.length === 0) this.#log.write(report, isLimited);
    for (const observer of this.#observers) void this.#notify(observer, report, isLimited);
  }

  async #notify(observer: Observer, report: Report, isLimited: boolean): Promise<void> {
    try {
      await observer(report);
    } catch (error) {
      this.#log.writeObserverFailure(error, isLimited);
    }
  }
}
