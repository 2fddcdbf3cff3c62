/** As many as the log prints of one code. */
const PATHS_PER_WINDOW = 5;
const WINDOW_MS = 60_000;

/**
 * Limits the reports of deliveries for paths that nobody serves, which any stranger can cause: one for each
 * path, and five paths, in a minute. Requests for one path use up nothing of the others; a burst for many
 * paths uses up the minute.
 */
export class MisdirectedLimit {
  readonly #paths = new Set<string>();
  #leftOut = 0;
  #endsAt = 0;

  /**
   * Undefined if this delivery is not to be reported; else how many deliveries for further paths were left
   * out in the window before.
   */
  admit(path: string): number | undefined {
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
