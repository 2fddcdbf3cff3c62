import type { Outcome } from '../../receiver/outcomes/outcome.ts';
import type { Report } from '../../receiver/outcomes/report.ts';
import { messageOf } from '../../receiver/values/foreign-values.ts';
import { CommandError } from '../failure.ts';
import type { Output } from '../output.ts';
import type { AcceptCommandOptions } from './accept-options.ts';
import type { LoadedReceiver } from './accepting-receiver.ts';
import type { EventFile, FileEvent } from './event-file.ts';
import { EventRuns, isUnrecorded } from './event-runs.ts';
import type { Forecast } from './forecast.ts';
import { printReport } from './print-report.ts';

/** The end of an event. */
export type End =
  | 'processed'
  | 'queued'
  | 'known'
  | 'ignored'
  | 'parked'
  | 'parkedBefore'
  | 'failed'
  | 'busy'
  | 'tooOld'
  | 'unreadable';

const ends: Readonly<Record<Exclude<Outcome, 'rejected'>, End>> = {
  processed: 'processed',
  queued: 'queued',
  duplicate: 'known',
  ignored: 'ignored',
  // A request that is not an event is not accepted either.
  handshake: 'unreadable',
  parked: 'parked',
  failed: 'failed',
  busy: 'busy',
};

/** The ends of events whose handlers ran, or would have. */
const RAN: readonly End[] = ['processed', 'queued', 'parked', 'failed', 'busy'];

/**
 * The ends of events after which `--bail` ends the command. The check has named those that are too old or
 * unreadable already, and they would end each further command at the same line.
 */
const UNHANDLED: readonly End[] = ['parked', 'failed', 'busy'];

type AcceptanceOptions = Pick<AcceptCommandOptions, 'bail' | 'concurrency' | 'limit'>;

/** Accepts the events of a file in their order, prints each, and keeps the counts. */
export class Acceptance {
  readonly counts: Record<End, number> = {
    processed: 0,
    queued: 0,
    known: 0,
    ignored: 0,
    parked: 0,
    parkedBefore: 0,
    failed: 0,
    busy: 0,
    tooOld: 0,
    unreadable: 0,
  };
  /** The codes of the errors for which events were parked. */
  readonly parkedFor: Set<string> = new Set();
  /**
   * The number of events that were handled, and that the store had not recorded when their handlers ended.
   */
  unrecorded = 0;
  readonly #receiver: LoadedReceiver['receiver'];
  readonly #options: AcceptanceOptions;
  readonly #forecast: Forecast;
  readonly #output: Output;
  readonly #runs: EventRuns;
  #taken = 0;

  constructor(
    { receiver, settings }: LoadedReceiver,
    options: AcceptanceOptions,
    forecast: Forecast,
    output: Output,
  ) {
    this.#receiver = receiver;
    this.#options = options;
    this.#forecast = forecast;
    this.#output = output;
    this.#runs = new EventRuns(settings, options);
  }

  async run(file: EventFile): Promise<void> {
    await this.#runs.run({
      items: this.#events(file),
      handle: (event) => this.#accept(event),
      ran: () => this.#ran,
      total: this.#forecast.toAccept,
      done: 'accepted',
      does: 'accepts',
    });
  }

  /** The error that ended the command, because each further event would have it too. */
  get failure(): EventRuns['failure'] {
    return this.#runs.failure;
  }

  /** The number of events that were to be accepted, and that the command did not come to. */
  get left(): number {
    // The check has counted an event twice that is twice in the file, so there may be fewer to accept.
    const { events, toAccept } = this.#forecast;
    return Math.max(0, Math.min(toAccept - this.#ran, events - this.#taken));
  }

  get #ran(): number {
    return RAN.reduce((sum, end) => sum + this.counts[end], 0);
  }

  async *#events(file: EventFile): AsyncGenerator<FileEvent, void, undefined> {
    let taken = 0;
    try {
      for await (const line of file.lines()) {
        taken += 1;
        // Lines that were added after the check were not shown to the user.
        if (taken > this.#forecast.lines) return;
        if (line.kind === 'unreadable') this.counts.unreadable += 1;
        if (line.kind === 'event') yield line;
      }
    } catch (cause) {
      const message = `the file could not be read to its end: ${messageOf(cause)}`;
      throw new CommandError('failed', message, { cause });
    }
  }

  async #accept({ event, number, options }: FileEvent): Promise<void> {
    const isRunning = async (): Promise<boolean> =>
      (await this.#receiver.foresee(event, options)).prospect === 'running';
    const report = await this.#runs.inTurn(() => this.#receiver.accept(event, options), isRunning);
    printReport(number, report, this.#output);
    this.#count(report);
  }

  #count(report: Report): void {
    const { error } = report;
    const end = endOf(report);
    const isLasting = end !== 'parkedBefore' && this.#runs.endsFor(error);
    // The event counts as left: the same command accepts it once the store is back.
    if (isLasting && end === 'failed') return;
    this.#taken += 1;
    this.counts[end] += 1;
    if (report.outcome === 'parked' && error !== undefined) this.parkedFor.add(error.code);
    if (isUnrecorded(report)) this.unrecorded += 1;
    if (this.#options.bail === true && UNHANDLED.includes(end)) this.#runs.end();
  }
}

function endOf({ code, outcome, runId }: Report): End {
  // Without a run, its dead letter was there before, or the event is twice in the file.
  if (outcome === 'parked' && runId === undefined) return 'parkedBefore';
  if (outcome !== 'rejected') return ends[outcome];
  return code === 'event_too_old' ? 'tooOld' : 'unreadable';
}
