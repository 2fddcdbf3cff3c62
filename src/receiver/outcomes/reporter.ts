import { checkOptions, invalidOption } from '../checks/check-options.ts';
import { ConfigurationError } from '../errors.ts';
import { show } from '../values/foreign-values.ts';
import type { PendingWarnings } from './pending-warnings.ts';
import type { ObserveOptions, Observer, Report } from './report.ts';
import { ReportLog } from './report-log.ts';

/** Sends reports to the observers. Until an observer takes its place, the default log prints them too. */
export class Reporter {
  readonly #observers: Observer[] = [];
  #keepsDefaultLog = true;
  readonly #log: ReportLog;
  readonly #pendingWarnings: PendingWarnings;

  /** `receiver` and `provider` are names for the lines of the default log. */
  constructor(pendingWarnings: PendingWarnings, receiver: string | undefined, provider: string | undefined) {
    this.#pendingWarnings = pendingWarnings;
    this.#log = new ReportLog(receiver, provider);
  }

  add(observer: Observer, options: ObserveOptions): void {
    if (typeof observer !== 'function') {
      throw new ConfigurationError(`an observer must be a function, got ${show(observer)}`);
    }
    checkOptions(options, ['keepDefaultLog'], 'observe');
    const { keepDefaultLog = false } = options;
    if (typeof keepDefaultLog !== 'boolean')
      throw invalidOption('keepDefaultLog', `must be true or false, got ${show(keepDefaultLog)}`);
    if (!keepDefaultLog) this.#keepsDefaultLog = false;
    this.#observers.push(observer);
  }

  /**
   * Gives a report to the observers, and to the default log unless one took its place. Observers get pending
   * warnings in the report; the log prints them before it. Never throws.
   */
  emit(original: Report): void {
    const pending = this.#pendingWarnings.take();
    if (this.#keepsDefaultLog) {
      for (const warning of pending) this.#log.writeWarning(warning);
      this.#log.write(original);
    }
    const report =
      pending.length === 0 ? original : { ...original, warnings: [...pending, ...original.warnings] };
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
