import type { ReportCode } from '../refusals.ts';
import { clearTimeout, performance } from '../timing/process-clock.ts';
import { setUnrefTimeout } from '../timing/unref-timeout.ts';
import type { Report } from './report.ts';

const LINES_PER_WINDOW = 5;
const WINDOW_MS = 60_000;

/**
 * Returns true for a report that can come in any number. Anybody can cause a rejection, or a delivery without
 * a valid signature, which has no key index. And a queue puts all jobs of a busy key back again and again.
 */
export function mayFlood({ code, outcome, source, keyIndex }: Report): boolean {
  if (source === 'job') return code === 'key_busy' && outcome === 'busy';
  return outcome === 'rejected' || (source === 'delivery' && keyIndex === undefined);
}

/** Names the reports with this code, in a line that counts them. */
export function reportsWith(code: ReportCode | undefined): string {
  return code === 'key_busy' ? 'jobs were put back with key_busy' : `deliveries ended with ${code}`;
}

/** The line that counts the reports without a line of their own. */
export function leftOutLine(leftOut: number, kind: string): string {
  return `posthorn: ${leftOut} more ${kind} in the last minute`;
}

/** Admits a few lines of each kind per minute. At the end of the minute it tells how many more there were. */
export class LineLimit<Kind> {
  readonly #tell: (kind: Kind, leftOut: number) => void;
  readonly #counts = new Map<Kind, number>();
  #timer: NodeJS.Timeout | undefined;
  #endsAt = Number.POSITIVE_INFINITY;

  /** `tell` must not throw: a timer calls it. */
  constructor(tell: (kind: Kind, leftOut: number) => void) {
    this.#tell = tell;
  }

  admit(kind: Kind): boolean {
    if (this.#timer === undefined) {
      this.#endsAt = performance.now() + WINDOW_MS;
      this.#timer = setUnrefTimeout(() => this.#end(), WINDOW_MS);
    }
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    return count <= LINES_PER_WINDOW;
  }

  /** Ends the minute without its timer, which may be late. */
  endIfOver(): void {
    if (this.#timer !== undefined && performance.now() >= this.#endsAt) this.#end();
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const [kind, count] of this.#counts) {
      const leftOut = count - LINES_PER_WINDOW;
      if (leftOut > 0) this.#tell(kind, leftOut);
    }
    this.#counts.clear();
  }
}
