import { messageOf, shorten } from '../values/foreign-values.ts';
import { IgnoredTypes } from './ignored-types.ts';
import { LineLimit, leftOutLine, mayFlood, reportsWith } from './line-limit.ts';
import { oneLine } from './one-line.ts';
import type { Outcome } from './outcome.ts';
import type { Report, Warning } from './report.ts';
import { stackFramesOf } from './stack-frames.ts';

const IS_ROUTINE: Readonly<Record<Outcome, boolean>> = {
  processed: true,
  duplicate: true,
  ignored: true,
  queued: true,
  handshake: true,
  parked: false,
  rejected: false,
  failed: false,
  busy: false,
};

/** Returns true for a success without a warning, which needs no attention. */
export function isRoutine({ outcome, warnings }: Report): boolean {
  return warnings.length === 0 && IS_ROUTINE[outcome];
}

/** Prints reports to `console.error`, each on one line of bounded length and without payload. */
export class ReportLog {
  readonly #receiver: string | undefined;
  readonly #provider: string | undefined;
  readonly #limit = new LineLimit<string>((kind, leftOut) => this.#print(leftOutLine(leftOut, kind)));
  readonly #ignoredTypes: IgnoredTypes;

  /**
   * Each line has the name of the receiver, if there is one. Each line about a report has the name of the
   * provider, unless it is the default one.
   */
  constructor(receiver: string | undefined, provider?: string | undefined) {
    this.#receiver = receiver && oneLine(receiver);
    this.#provider = provider;
    this.#ignoredTypes = new IgnoredTypes(provider === undefined);
  }

  /**
   * Prints a report unless it is routine, and a line about a new ignored type. If such reports may flood the
   * log, it prints a few per minute, and counts the others.
   */
  write(report: Report): void {
    if (report.outcome === 'ignored') this.#writeIgnored(report);
    if (isRoutine(report)) return;
    this.#limit.endIfOver();
    if (mayFlood(report) && !this.#limit.admit(reportsWith(report.code))) return;
    this.#print(lineOf(report, this.#provider));
  }

  /** Prints a warning that does not belong to a delivery. */
  writeWarning(warning: Warning): void {
    this.#print(`posthorn: ${oneLine(warning)}`);
  }

  #writeIgnored({ event }: Report): void {
    const line = this.#ignoredTypes.lineFor(event?.type ?? '?');
    if (line !== undefined) this.#print(line);
  }

  /** Prints the error of an observer that threw or rejected when it got the report. */
  writeObserverFailure(error: unknown, report: Report): void {
    this.#limit.endIfOver();
    if (mayFlood(report) && !this.#limit.admit('failures of an observer')) return;
    this.#print(observerFailureLine(error));
  }

  #print(line: string): void {
    print(
      this.#receiver === undefined ? line : line.replace('posthorn:', () => `posthorn: [${this.#receiver}]`),
    );
  }
}

/** Prints the error of an observer, without a limit. */
export function printObserverFailure(error: unknown): void {
  print(observerFailureLine(error));
}

function observerFailureLine(error: unknown): string {
  return `posthorn: an observer failed: ${oneLine(messageOf(error))}`;
}

/** Nothing is more urgent. */
export const ENDPOINT_AT_RISK = 'ENDPOINT AT RISK';

/** The result of a delivery, in a few words. */
export function headlineOf({ outcome, late, status }: Report): string {
  return `posthorn: ${outcome}${late ? ' late' : ''} ${status}`;
}

function lineOf(report: Report, provider: string | undefined): string {
  const { event, attempt, final, endpointAtRisk, error, rerun, warnings } = report;
  const parts = [headlineOf(report)];
  if (provider !== undefined) parts.push(`provider=${provider}`);
  if (event?.account !== undefined) parts.push(`account=${oneLine(event.account)}`);
  if (event !== undefined) parts.push(`event=${oneLine(event.id)} type=${oneLine(event.type ?? '?')}`);
  if (rerun !== undefined) parts.push(`rerun=${oneLine(rerun.run)}`);
  if (attempt !== undefined) parts.push(`attempt=${attempt}${final ? ' (final)' : ''}`);
  if (endpointAtRisk) parts.push(ENDPOINT_AT_RISK);
  if (error !== undefined) parts.push(`${error.code}: ${oneLine(messageOf(error))}`);
  parts.push(...warnings.map((warning) => `[${oneLine(warning)}]`));
  // The stacks come last, because the end of a long line is cut off.
  if (error !== undefined) parts.push(...stackFramesOf(error));
  return shorten(parts.join(' '), MAX_LINE_LENGTH);
}

const MAX_LINE_LENGTH = 4_000;

function print(line: string): void {
  try {
    // biome-ignore lint/suspicious/noConsole: without an observer, failures would go unnoticed
    console.error(line);
  } catch {
    // A console that the application has replaced may throw. The delivery must be answered all the same.
  }
}
