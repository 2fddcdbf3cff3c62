import type { ForeseenRerun } from '../../receiver/handling/ways-in/foresee-rerun.ts';
import type { JournalEntry } from '../../receiver/journal/journal.ts';
import type { Report } from '../../receiver/outcomes/report.ts';
import type { Output } from '../output.ts';
import type { ChosenEntries } from './chosen-entries.ts';
import { EventRuns, isUnrecorded } from './event-runs.ts';
import { printRerunReport } from './print-report.ts';
import { type RerunForecast, refusalOf } from './rerun-forecast.ts';
import type { RerunCommandOptions } from './rerun-options.ts';
import type { RerunningReceiver } from './rerunning-receiver.ts';

/**
 * The end of an event. `superseded`: an inbox has a newer one, so its handler was not run. `done`: it has run
 * under this name before.
 */
export type RerunEnd =
  | 'processed'
  | 'superseded'
  | 'done'
  | 'failed'
  | 'busy'
  | 'noBody'
  | 'unfinished'
  | 'refused';

/** The ends of events whose handler ran, or would have. */
const RAN: readonly RerunEnd[] = ['processed', 'superseded', 'failed', 'busy'];

/** Runs a handler again for the entries of a selection, in their order, prints each, and keeps the counts. */
export class Rerunning {
  readonly counts: Record<RerunEnd, number> = {
    processed: 0,
    superseded: 0,
    done: 0,
    failed: 0,
    busy: 0,
    noBody: 0,
    unfinished: 0,
    refused: 0,
  };
  /**
   * The number of events that were handled, and that the store had not recorded when their handler ended.
   */
  unrecorded = 0;
  readonly #loaded: RerunningReceiver;
  readonly #options: Pick<RerunCommandOptions, 'bail' | 'concurrency' | 'limit'>;
  readonly #forecast: RerunForecast;
  readonly #output: Output;
  readonly #runs: EventRuns;
  #taken = 0;

  constructor(
    loaded: RerunningReceiver,
    options: Pick<RerunCommandOptions, 'bail' | 'concurrency' | 'limit'>,
    forecast: RerunForecast,
    output: Output,
  ) {
    this.#loaded = loaded;
    this.#options = options;
    this.#forecast = forecast;
    this.#output = output;
    this.#runs = new EventRuns(loaded.settings, options);
  }

  async run({ read }: ChosenEntries): Promise<void> {
    await this.#runs.run({
      items: read(),
      handle: (entry) => this.#rerun(entry),
      ran: () => this.#ran,
      total: this.#forecast.toRun,
      done: 'run',
      does: 'runs',
    });
  }

  /** The error that ended the command, because each further event would have it too. */
  get failure(): EventRuns['failure'] {
    return this.#runs.failure;
  }

  /** The number of events that were to run, and that the command did not come to. */
  get left(): number {
    // Another command may have run some of them since the check.
    const { events, toRun } = this.#forecast;
    return Math.max(0, Math.min(toRun - this.#ran, events - this.#taken));
  }

  get #ran(): number {
    return RAN.reduce((sum, end) => sum + this.counts[end], 0);
  }

  /** Asks first: a rerun that is refused, or that was done, would be a report to the observers. */
  async #rerun(entry: JournalEntry): Promise<void> {
    const { receiver, rerunOptions } = this.#loaded;
    const foresee = (): Promise<ForeseenRerun> => receiver.foreseeRerun(entry, rerunOptions);
    const { error, prospect } = await foresee();
    if (prospect === 'done' || prospect === 'refused') {
      this.#count(prospect === 'done' ? 'done' : refusalOf(error?.code));
      return;
    }
    const isRunning = async (): Promise<boolean> => (await foresee()).prospect === 'running';
    const report = await this.#runs.inTurn(() => receiver.rerun(entry, rerunOptions), isRunning);
    const end = endOf(report);
    printRerunReport(end === 'superseded' ? end : report.outcome, report, this.#output);
    // The event counts as left: the same command runs it once the store is back.
    if (this.#runs.endsFor(report.error)) return;
    this.#count(end);
    if (isUnrecorded(report)) this.unrecorded += 1;
    if (this.#options.bail === true && (end === 'failed' || end === 'busy')) this.#runs.end();
  }

  #count(end: RerunEnd): void {
    this.#taken += 1;
    this.counts[end] += 1;
  }
}

function endOf({ code, handlers, outcome }: Report): RerunEnd {
  if (outcome === 'rejected') return refusalOf(code);
  if (outcome === 'duplicate') return 'done';
  if (outcome === 'failed' || outcome === 'busy') return outcome;
  return handlers.some(({ skipped }) => skipped === 'superseded') ? 'superseded' : 'processed';
}
