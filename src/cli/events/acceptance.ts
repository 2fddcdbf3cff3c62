import type { Outcome } from '../../receiver/outcomes/outcome.ts';
import { type Report, warningCodeOf } from '../../receiver/outcomes/report.ts';
import { messageOf } from '../../receiver/values/foreign-values.ts';
import { countText } from '../counts.ts';
import { deferSignals } from '../defer-signals.ts';
import { CommandError } from '../failure.ts';
import { note, type Output } from '../output.ts';
import { Progress } from '../progress.ts';
import { repeat } from '../repeat.ts';
import type { AcceptCommandOptions } from './accept-options.ts';
import type { LoadedReceiver } from './accepting-receiver.ts';
import type { EventFile, FileEvent, FileLine } from './event-file.ts';
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

/** The codes of errors that each further event would have too. */
const LASTING: readonly string[] = ['store_unavailable', 'queue_unavailable', 'closing'];

/** Clocks differ, and the lease may have been renewed just before the process was killed. */
const LEASE_MARGIN_MS = 1_000;

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
  /** The error that ended the command, because each further event would have it too. */
  failure: { readonly error: unknown } | undefined;
  readonly #receiver: LoadedReceiver['receiver'];
  readonly #settings: LoadedReceiver['settings'];
  readonly #options: Pick<AcceptCommandOptions, 'bail' | 'concurrency' | 'limit'>;
  readonly #forecast: Forecast;
  readonly #output: Output;
  readonly #progress = new Progress();
  #underWay = 0;
  /** Called when an event ends. */
  #onEnd: () => void = () => {};
  #isOver: () => boolean = () => false;
  #taken = 0;
  #mustBail = false;

  constructor(
    { receiver, settings }: LoadedReceiver,
    options: Pick<AcceptCommandOptions, 'bail' | 'concurrency' | 'limit'>,
    forecast: Forecast,
    output: Output,
  ) {
    this.#receiver = receiver;
    this.#settings = settings;
    this.#options = options;
    this.#forecast = forecast;
    this.#output = output;
  }

  async run(file: EventFile): Promise<void> {
    await deferSignals({
      reason: 'the current events are finished first',
      abandon: () => this.#abandon(),
      work: (isSignalled) => this.#acceptAll(file.lines(), isSignalled),
    });
    this.#progress.clear();
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

  async #acceptAll(lines: AsyncIterable<FileLine>, isSignalled: () => boolean): Promise<void> {
    this.#isOver = () => isSignalled() || this.#mustBail || this.failure !== undefined;
    try {
      await this.#acceptLines(lines);
    } catch (cause) {
      const message = `the file could not be read to its end: ${messageOf(cause)}`;
      this.failure ??= { error: new CommandError('failed', message, { cause }) };
    }
    while (this.#underWay > 0) await this.#oneEnds();
  }

  async #acceptLines(lines: AsyncIterable<FileLine>): Promise<void> {
    let taken = 0;
    for await (const line of lines) {
      taken += 1;
      // Lines that were added after the check were not shown to the user.
      if (taken > this.#forecast.lines) return;
      if (line.kind === 'unreadable') this.counts.unreadable += 1;
      if (line.kind !== 'event') continue;
      if (!(await this.#hasTurn()) || this.#isOver()) return;
      void this.#accept(line);
    }
  }

  /**
   * Waits until one more event may begin. Resolves with false if the limit is reached. Events under way count
   * for it until their end shows that they were known.
   */
  async #hasTurn(): Promise<boolean> {
    const { concurrency, limit = Number.POSITIVE_INFINITY } = this.#options;
    while (this.#underWay > 0) {
      if (this.#underWay < concurrency && this.#underWay + this.#ran < limit) return true;
      await this.#oneEnds();
    }
    return this.#ran < limit;
  }

  /** A race of their promises would keep memory for each event that ends before the slowest one. */
  #oneEnds(): Promise<void> {
    return new Promise((resolve) => {
      this.#onEnd = resolve;
    });
  }

  async #accept(event: FileEvent): Promise<void> {
    this.#underWay += 1;
    try {
      const report = await this.#acceptInTurn(event);
      printReport(event.number, report, this.#output);
      this.#count(report);
      this.#showProgress();
    } catch (error) {
      this.failure ??= { error };
    }
    this.#underWay -= 1;
    this.#onEnd();
  }

  /**
   * Accepts an event, again if it had no turn. If it is running elsewhere, that process may have been killed:
   * then its lease ends soon. The handlers of a busy key end within `maxRunMs`.
   */
  async #acceptInTurn({ event, options }: FileEvent): Promise<Report> {
    const startedAt = performance.now();
    const { leaseMs, maxRunMs } = this.#settings;
    const limits = new Map<unknown, number>([
      ['event_running', leaseMs + LEASE_MARGIN_MS],
      ['key_busy', maxRunMs],
    ]);
    const mustRepeat = (code: unknown): boolean =>
      performance.now() - startedAt < (limits.get(code) ?? 0) && !this.#isOver();
    return repeat(
      () => this.#receiver.accept(event, options),
      mustRepeat,
      ({ code }) => code,
    );
  }

  #showProgress(): void {
    const { limit = Number.POSITIVE_INFINITY } = this.#options;
    const total = Math.min(limit, this.#forecast.toAccept);
    this.#progress.show(`accepted ${countText(this.#ran)} of ${countText(total)}`);
  }

  #count(report: Report): void {
    const { error, warnings } = report;
    const end = endOf(report);
    const isLasting = end !== 'parkedBefore' && error !== undefined && LASTING.includes(error.code);
    if (isLasting) this.failure ??= { error };
    // The event counts as left: the same command accepts it once the store is back.
    if (isLasting && end === 'failed') return;
    this.#taken += 1;
    this.counts[end] += 1;
    if (report.outcome === 'parked' && error !== undefined) this.parkedFor.add(error.code);
    if (warnings.some((warning) => warningCodeOf(warning) === 'completion_pending')) this.unrecorded += 1;
    this.#mustBail ||= this.#options.bail === true && UNHANDLED.includes(end);
  }

  /** Says what becomes of the events whose handling ends with the process. */
  #abandon(): void {
    this.#progress.clear();
    note(
      `posthorn: events that were not finished: ${this.#underWay}. They count as running until their lease ` +
        'ends (leaseMs); then the same command accepts them',
    );
  }
}

function endOf({ code, outcome, runId }: Report): End {
  // Without a run, its dead letter was there before, or the event is twice in the file.
  if (outcome === 'parked' && runId === undefined) return 'parkedBefore';
  if (outcome !== 'rejected') return ends[outcome];
  return code === 'event_too_old' ? 'tooOld' : 'unreadable';
}
