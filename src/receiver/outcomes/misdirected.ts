import { RequestError } from '../errors.ts';
import { performance } from '../timing/process-clock.ts';
import { show } from '../values/foreign-values.ts';

/** The log has the same limit for one code. */
const PATHS_PER_WINDOW = 5;
const WINDOW_MS = 60_000;

/**
 * Limits the reports of deliveries for paths that nobody serves, because any stranger can cause them. In each
 * minute it admits one for each path, and five paths. Many requests for one path do not hide other paths;
 * requests for many paths do.
 */
export class MisdirectedDeliveries {
  readonly #paths = new Set<string>();
  #leftOut = 0;
  #endsAt = 0;

  /** The error of a delivery for another path; undefined if it is not to be reported. */
  refuse(requested: string, served: string): RequestError | undefined {
    // `show` makes a short copy: a path may be as long as a head, and is kept.
    const path = show(requested);
    const leftOut = this.#admit(path);
    if (leftOut === undefined) return undefined;
    const others = leftOut > 0 ? `; ${leftOut} for more paths were left out before` : '';
    return new RequestError(
      'not_found',
      `a delivery with a signature came for ${path}, and this receiver serves ${show(served)}; further ones for ` +
        `this path are not reported for a minute${others}`,
    );
  }

  /**
   * Returns undefined if the limit is reached, else the number of paths that were left out in the minute
   * before.
   */
  #admit(path: string): number | undefined {
    const now = performance.now();
    const isOver = now >= this.#endsAt;
    const leftOutBefore = isOver ? this.#leftOut : 0;
    if (isOver) {
      this.#paths.clear();
      this.#leftOut = 0;
      this.#endsAt = now + WINDOW_MS;
    }
    if (this.#paths.has(path)) return undefined;
    if (this.#paths.size === PATHS_PER_WINDOW) {
      this.#leftOut += 1;
      return undefined;
    }
    this.#paths.add(path);
    return leftOutBefore;
  }
}
