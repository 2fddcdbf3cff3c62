import { messageOf, shorten } from '../errors.ts';
import { IgnoredTypes } from './ignored-types.ts';
import { oneLine } from './one-line.ts';
import type { Outcome } from './outcome.ts';
import type { Report, Warning } from './report.ts';
import { stackFramesOf } from './stack-frames.ts';

/** They are printed only with a warning. */
const QUIET_OUTCOMES: ReadonlySet<Outcome> = new Set(['processed', 'duplicate', 'ignored', 'queued']);

/** Prints reports to `console.error`, each on one line of bounded length and without payload. */
export class ReportLog {
  readonly #limit = new LineLimit();
  readonly #ignoredTypes = new IgnoredTypes();

  /**
   * Prints a report. With `isLimited`, it prints a few lines per code and
   * minute, and later the number of the others.
   */
  write(report: Report, isLimited: boolean): void {
    if (report.outcome === 'ignored') this.#writeIgnored(report);
    if (QUIET_OUTCOMES.has(report.outcome) && report.warnings.length === 0) return;
    this.#limit.endIfOver();
    if (isLimited && !this.#limit.admit(`deliveries ended with ${report.code ?? report.outcome}`)) return;
    print(lineOf(report));
  }

  /** Prints a warning that belongs to no delivery. */
  writeWarning(warning: Warning): void {
    print(`posthorn: ${oneLine(warning)}`);
  }

  #writeIgnored({ event }: Report): void {
    const line = this.#ignoredTypes.lineFor(event?.type ?? '?');
    if (line !== undefined) print(line);
  }

  /** Prints the error of an observer that threw or rejected. */
  writeObserverFailure(error: unknown, isLimited: boolean): void {
    this.#limit.endIfOver();
    if (isLimited && !this.#limit.admit('failures of an observer')) return;
    print(`posthorn: an observer failed: ${oneLine(messageOf(error))}`);
  }
}

const LINES_PER_WINDOW = 5;
const WINDOW_MS = 60_000;

/**
 * Admits a few lines of each kind per minute. At the end of the minute it prints how many others there were.
 */
class LineLimit {
  readonly #counts = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #endsAt = Number.POSITIVE_INFINITY;

  admit(kind: string): boolean {
    if (this.#timer === undefined) {
      this.#endsAt = performance.now() + WINDOW_MS;
      this.#timer = setTimeout(() => this.#end(), WINDOW_MS).unref();
    }
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    return count <= LINES_PER_WINDOW;
  }

  /** Ends the minute without its timer, which may be late. */
  endIfOver(): void {
    if (performance.now() >= this.#endsAt) this.#end();
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#endsAt = Number.POSITIVE_INFINITY;
    for (const [kind, count] of this.#counts) {
      const leftOut = count - LINES_PER_WINDOW;
      if (leftOut > 0) print(`posthorn: ${leftOut} more ${kind} in the last minute`);
    }
    this.#counts.clear();
  }
}

function lineOf(report: Report): string {
  const { outcome, late, status, event, attempt, final, endpointAtRisk, error, warnings } = report;
  const parts = [`posthorn: ${outcome}${late ? ' late' : ''} ${status}`];
  if (event !== undefined) parts.push(`event=${oneLine(event.id)} type=${oneLine(event.type ?? '?')}`);
  if (attempt !== undefined) parts.push(`attempt=${attempt}${final ? ' (final)' : ''}`);
  if (endpointAtRisk) parts.push('ENDPOINT AT RISK');
  if (error !== undefined) parts.push(`${error.code}: ${oneLine(messageOf(error))}`);
  parts.push(...warnings.map((warning) => `[${oneLine(warning)}]`));
  // Last, so that nothing else is cut off for them.
  if (error !== undefined) parts.push(...stackFramesOf(error));
  return shorten(parts.join(' '), MAX_LINE_LENGTH);
}

const MAX_LINE_LENGTH = 4_000;

function print(line: string): void {
  try {
    // biome-ignore lint/suspicious/noConsole: without an observer, failures would go unnoticed
    console.error(line);
  } catch {
    // A console that the application has replaced may throw. The delivery is answered all the same.
  }
}
