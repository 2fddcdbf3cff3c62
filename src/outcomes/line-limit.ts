import type { ReportCode } from './outcome.ts';
import type { Report } from './report.ts';

const LINES_PER_WINDOW = 5;
const WINDOW_MS = 60_000;

/**
 * Whether anybody can cause any number of reports like this one: rejections, and all reports of deliveries
 * without a valid signature, which have no key.
 */
export function mayFlood({ outcome, source, keyIndex }: Report): boolean {
  return outcome === 'rejected' || (source === 'delivery' && keyIndex === undefined);
}

/** Names deliveries that may have no line of their own. */
export function deliveriesWith(code: ReportCode | undefined): string {
  return `deliveries ended with ${code}`;
}

/** The line about what had none of its own. */
export function leftOutLine(leftOut: number, kind: string): string {
  return `posthorn: ${leftOut} more ${kind} in the last minute`;
}

/** Admits a few lines of each kind per minute; at the end of the minute tells how many others there were. */
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
      this.#timer = setTimeout(() => this.#end(), WINDOW_MS).unref();
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
