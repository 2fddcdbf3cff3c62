import { ConfigurationError, show } from '../errors.ts';
import type { Observer, Report, Warning } from './report.ts';
import { ReportLog } from './report-log.ts';

/** Sends reports to the observers. Without an observer, prints all but plain successes to `console.error`. */
export class Reporter {
  readonly #observers: Observer[] = [];
  readonly #log = new ReportLog();
  #firstWarnings: readonly Warning[];

  /** `firstWarnings` are added to the first report, or printed before it, each on a line of its own. */
  constructor(firstWarnings: readonly Warning[]) {
    this.#firstWarnings = firstWarnings;
  }

  add(observer: Observer): void {
    if (typeof observer !== 'function') {
      throw new ConfigurationError(`an observer must be a function, got ${show(observer)}`);
    }
    this.#observers.push(observer);
  }

  /** Never throws. */
  emit(original: Report): void {
    const firstWarnings = this.#firstWarnings;
    this.#firstWarnings = [];
    if (this.#observers.length === 0) {
      for (const warning of firstWarnings) this.#log.writeWarning(warning);
      this.#log.write(original);
    }
    const report =
      firstWarnings.length === 0
        ? original
        : { ...original, warnings: [...firstWarnings, ...original.warnings] };
    for (const observer of this.#observers) void this.#notify(observer, report);
  }

  async #notify(observer: Observer, report: Report): Promise<void> {
    try {
      await observer(report);
    } catch (error) {
      this.#log.writeObserverFailure(error, report);
    }
  }
}
