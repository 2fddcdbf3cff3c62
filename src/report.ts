import { ConfigurationError, messageOf, type PosthornError, show } from './errors.ts';
import { escapeControls } from './escape.ts';
import type { Outcome } from './outcome.ts';

/** What observers are told of a delivery. Times are in milliseconds. */
export interface Report {
  readonly outcome: Outcome;
  /** The HTTP status of the answer; for a late report, the one that the outcome would have got. */
  readonly status: number;
  /** Why it was not processed: the code of `error`. */
  readonly code?: string | undefined;
  readonly event?: { readonly id: string; readonly type?: string | undefined } | undefined;
  readonly attempt?: number | undefined;
  readonly final?: boolean | undefined;
  /** The run ended after its delivery had been answered; an earlier report told of the answer. */
  readonly late: boolean;
  /** False where the sender had hung up before its answer, and for a replay, which has no sender. */
  readonly answerSent: boolean;
  /** Since the epoch. */
  readonly receivedAt: number;
  readonly durationMs: number;
  /** The last attempt of this event failed and was answered so: the service may now stop sending anything. */
  readonly endpointAtRisk: boolean;
  readonly warnings: readonly Warning[];
  readonly error?: PosthornError | undefined;
  /** Which of the signing keys matched, from 0. */
  readonly keyIndex?: number | undefined;
  /** The handlers that ended in this attempt. */
  readonly handlers: readonly HandlerReport[];
}

/** One handler's end. */
export interface HandlerReport {
  readonly name?: string | undefined;
  readonly ok: boolean;
  readonly durationMs: number;
}

/**
 * Something that did not change the outcome but wants attention: a code and what lies behind it.
 * - `dead_letters_missing`: the receiver has no `deadLetters`; told once.
 * - `claimed_nothing`: the store did not answer, and `onStoreFailure` is `process`.
 * - `lease_lost`: another process may have run the same handlers.
 * - `completion_pending`: the event was handled but the store does not know it yet; it is being tried again.
 * - `release_failed`: the id was not given back; it is tried again, and a retry may have to wait until the lease ends.
 * - `dead_letter_not_stored`, `dead_letter_not_read`, `dead_letter_not_removed`: the dead letters refused or were late.
 */
export type Warning = `${WarningCode}: ${string}`;

type WarningCode =
  | 'dead_letters_missing'
  | 'claimed_nothing'
  | 'lease_lost'
  | 'completion_pending'
  | 'release_failed'
  | 'dead_letter_not_stored'
  | 'dead_letter_not_read'
  | 'dead_letter_not_removed';

/** Gets each report. What it throws or rejects with changes no answer. */
export type Observer = (report: Report) => unknown;

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

  emit(told: Report): void {
    const report =
      this.#firstWarnings.length === 0
        ? told
        : { ...told, warnings: [...this.#firstWarnings, ...told.warnings] };
    this.#firstWarnings = [];
    if (this.#observers.length === 0) this.#log.write(report);
    for (const observer of this.#observers) void notify(observer, report);
  }
}

/** Never rejects. */
async function notify(observer: Observer, report: Report): Promise<void> {
  try {
    await observer(report);
  } catch (error) {
    complain(error);
  }
}

function complain(error: unknown): void {
  print(`posthorn: an observer failed: ${oneLine(messageOf(error))}`);
}

/** Anybody can cause rejections, so they must not be able to flood the log. */
const REJECTIONS_PER_WINDOW = 10;
const WINDOW_MS = 60_000;

class ReportLog {
  #windowEndsAt = 0;
  #rejections = 0;

  write(report: Report): void {
    const quiet =
      report.outcome === 'processed' || report.outcome === 'duplicate' || report.outcome === 'ignored';
    if (quiet && report.warnings.length === 0) return;
    if (report.outcome === 'rejected' && !this.#admit()) return;
    print(lineOf(report));
  }

  #admit(): boolean {
    if (performance.now() >= this.#windowEndsAt) {
      const unseen = this.#rejections - REJECTIONS_PER_WINDOW;
      if (unseen > 0) print(`posthorn: ${unseen} more deliveries were rejected in the last minute or before`);
      this.#windowEndsAt = performance.now() + WINDOW_MS;
      this.#rejections = 0;
    }
    this.#rejections += 1;
    return this.#rejections <= REJECTIONS_PER_WINDOW;
  }
}

function lineOf(report: Report): string {
  const parts = [`posthorn: ${report.outcome}${report.late ? ' late' : ''} ${report.status}`];
  if (report.event !== undefined)
    parts.push(`event=${oneLine(report.event.id)} type=${oneLine(report.event.type ?? '?')}`);
  if (report.attempt !== undefined) parts.push(`attempt=${report.attempt}${report.final ? ' (final)' : ''}`);
  if (report.endpointAtRisk) parts.push('ENDPOINT AT RISK');
  if (report.warnings.length > 0) parts.push(...report.warnings.map((warning) => `[${oneLine(warning)}]`));
  if (report.error !== undefined) parts.push(`${report.error.code}: ${oneLine(messageOf(report.error))}`);
  return parts.join(' ');
}

const MAX_LOGGED_LENGTH = 500;

function oneLine(text: string): string {
  const escaped = escapeControls(text);
  return escaped.length <= MAX_LOGGED_LENGTH ? escaped : `${escaped.slice(0, MAX_LOGGED_LENGTH)}…`;
}

function print(line: string): void {
  try {
    // biome-ignore lint/suspicious/noConsole: without an observer this is the only way not to fail in silence
    console.error(line);
  } catch {
    // Whoever has replaced the console may throw; no delivery loses its answer for that.
  }
}
