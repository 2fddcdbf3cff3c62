/** What follows from the retries of a sender. Times are in milliseconds. */
export interface RetryRules {
  /**
   * True if the dead letter of a last attempt is stored before its handlers run. False if a sender never
   * retries: each attempt is the last one then, and a letter for each would double the work.
   */
  readonly storesLetterFirst: boolean;
  /** The number of retries, or the least number of them. */
  readonly count: number;
  /** Claims closer together than this come from concurrent duplicates, not from retries, and count once. */
  readonly spacingMs: number;
  /** The time from the first attempt to the last; 0 without retries. */
  readonly spanMs: number;
  /** When the sender may be asked to come again. */
  readonly firstDelayMs: number;
  /** The pause before the second retry; infinite if it is not known. */
  readonly secondDelayMs: number;
  /** From this age on, an event may get no further retry. */
  readonly finalFromMs: number;
}

const MINUTE_MS = 60_000;

/**
 * The rules for a list of delays, which can be read as offsets from the first attempt, or as pauses. "After
 * 2, 6 and 20 minutes" is 2, 6 and 20 minutes, or 2, 8 and 28. In both readings, nine tenths of the last
 * delay lie between the last two retries. For a long list they come earlier: events are then parked too early
 * rather than too late.
 */
export function rulesOfDelays(delays: readonly number[]): RetryRules {
  const [firstMs = 0, secondDelayMs = Number.POSITIVE_INFINITY] = delays;
  return {
    storesLetterFirst: true,
    count: delays.length,
    spacingMs: firstMs / 2,
    spanMs: delays.reduce((sum, delayMs) => sum + delayMs, 0),
    firstDelayMs: firstMs === 0 ? MINUTE_MS : firstMs,
    secondDelayMs,
    finalFromMs: delays.length === 0 ? Number.NEGATIVE_INFINITY : 0.9 * (delays.at(-1) ?? 0),
  };
}

/** Returns true for a list of delays in milliseconds, each above 0. */
export function isDelays(value: unknown): value is readonly number[] {
  // `every` skips the holes of a sparse list; a copy does not have any.
  return Array.isArray(value) && [...value].every(isDelay);
}

/** Returns true for a time in milliseconds, above 0. */
export function isDelay(delay: unknown): delay is number {
  return typeof delay === 'number' && Number.isFinite(delay) && delay > 0;
}
