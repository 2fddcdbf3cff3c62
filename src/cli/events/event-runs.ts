import { setTimeout as delay } from 'node:timers/promises';
import type { ReportedError } from '../../receiver/outcomes/outcome.ts';
import { type Report, warningCodeOf } from '../../receiver/outcomes/report.ts';
import type { Settings } from '../../receiver/settings.ts';
import { countText } from '../counts.ts';
import { deferSignals } from '../defer-signals.ts';
import { note } from '../output.ts';
import { Progress } from '../progress.ts';

/** The codes of errors that each further event would have too. */
const LASTING: readonly string[] = ['store_unavailable', 'queue_unavailable', 'closing'];

const PAUSE_MS = 50;

/** Clocks differ, and the lease may have been renewed just before the process was killed. */
const LEASE_MARGIN_MS = 1_000;

/** The events of a command, and the words for their work. */
export interface EventWork<Item> {
  readonly items: AsyncIterable<Item>;
  /** Handles one to its end. */
  readonly handle: (item: Item) => Promise<void>;
  /** The number of events that ran to their end, which count for the limit. */
  readonly ran: () => number;
  /** The number of events that are to run. */
  readonly total: number;
  /** Says in a progress what became of the events, such as `accepted`. */
  readonly done: string;
  /** Says what the same command does with an event, such as `accepts`. */
  readonly does: string;
}

interface RunLimits {
  /** The number of events at once. */
  readonly concurrency: number;
  /** The number of events that run. */
  readonly limit?: number | undefined;
}

/** Handles events in their order, some at once, until a signal, a lasting error or a limit. */
export class EventRuns {
  /** The error that ended the command, because each further event would have it too. */
  failure: { readonly error: unknown } | undefined;
  readonly #settings: Pick<Settings, 'leaseMs' | 'maxRunMs'>;
  readonly #limits: RunLimits;
  readonly #progress = new Progress();
  #underWay = 0;
  /** Called when an event ends. */
  #onEnd: () => void = () => {};
  #isSignalled: () => boolean = () => false;
  #mustEnd = false;

  constructor(settings: Pick<Settings, 'leaseMs' | 'maxRunMs'>, limits: RunLimits) {
    this.#settings = settings;
    this.#limits = limits;
  }

  async run<Item>(work: EventWork<Item>): Promise<void> {
    await deferSignals({
      reason: 'the current events are finished first',
      abandon: () => this.#abandon(work),
      work: (isSignalled) => {
        this.#isSignalled = isSignalled;
        return this.#handleAll(work);
      },
    });
    this.#progress.clear();
  }

  /** Begins no further event. */
  end(): void {
    this.#mustEnd = true;
  }

  /** Ends the command, with the error, if each further event would have it too. Returns true if so. */
  endsFor(error: ReportedError | undefined): boolean {
    if (error === undefined || !LASTING.includes(error.code)) return false;
    this.failure ??= { error };
    return true;
  }

  /**
   * Makes an attempt, again if the event had no turn. If it is running elsewhere, that process may have been
   * killed: then its lease ends soon. The handlers of a busy key end within `maxRunMs`. Meanwhile
   * `isRunning` is asked, because each attempt is a report to the observers.
   */
  async inTurn(attempt: () => Promise<Report>, isRunning: () => Promise<boolean>): Promise<Report> {
    const startedAt = performance.now();
    const { leaseMs, maxRunMs } = this.#settings;
    const limits = new Map<unknown, number>([
      ['event_running', leaseMs + LEASE_MARGIN_MS],
      ['key_busy', maxRunMs],
    ]);
    const mustRepeat = (code: unknown): boolean =>
      performance.now() - startedAt < (limits.get(code) ?? 0) && !this.#isOver;
    for (;;) {
      const report = await attempt();
      if (!mustRepeat(report.code)) return report;
      do await delay(PAUSE_MS);
      while (mustRepeat('event_running') && (await isRunning()));
    }
  }

  get #isOver(): boolean {
    return this.#isSignalled() || this.#mustEnd || this.failure !== undefined;
  }

  async #handleAll<Item>(work: EventWork<Item>): Promise<void> {
    try {
      for await (const item of work.items) {
        if (!(await this.#hasTurn(work.ran)) || this.#isOver) break;
        void this.#handle(item, work);
      }
    } catch (error) {
      this.failure ??= { error };
    }
    while (this.#underWay > 0) await this.#oneEnds();
  }

  /**
   * Waits until one more event may begin. Resolves with false if the limit is reached. Events under way count
   * for it until their end shows that they did not run.
   */
  async #hasTurn(ran: () => number): Promise<boolean> {
    const { concurrency, limit = Number.POSITIVE_INFINITY } = this.#limits;
    while (this.#underWay > 0) {
      if (this.#underWay < concurrency && this.#underWay + ran() < limit) return true;
      await this.#oneEnds();
    }
    return ran() < limit;
  }

  /** A race of their promises would keep memory for each event that ends before the slowest one. */
  #oneEnds(): Promise<void> {
    return new Promise((resolve) => {
      this.#onEnd = resolve;
    });
  }

  async #handle<Item>(item: Item, { done, handle, ran, total }: EventWork<Item>): Promise<void> {
    const { limit = Number.POSITIVE_INFINITY } = this.#limits;
    this.#underWay += 1;
    try {
      await handle(item);
      this.#progress.show(`${done} ${countText(ran())} of ${countText(Math.min(limit, total))}`);
    } catch (error) {
      this.failure ??= { error };
    }
    this.#underWay -= 1;
    this.#onEnd();
  }

  /** Says what becomes of the events whose handling ends with the process. */
  #abandon({ does }: Pick<EventWork<unknown>, 'does'>): void {
    this.#progress.clear();
    note(
      `posthorn: events that were not finished: ${this.#underWay}. They count as running until their lease ` +
        `ends (leaseMs); then the same command ${does} them`,
    );
  }
}

/**
 * Returns true for an event that was handled, and that the store had not recorded when its handlers ended.
 */
export function isUnrecorded({ warnings }: Pick<Report, 'warnings'>): boolean {
  return warnings.some((warning) => warningCodeOf(warning) === 'completion_pending');
}
