/** The time for which a completed id is remembered. */
export interface RetentionSettings {
  readonly retentionMs: number;
  readonly maxEventAgeMs: number;
  readonly now: () => number;
}

/** Added to an event's age limit, because clocks differ. */
const RETENTION_MARGIN_MS = 10 * 60_000;

/** A completed id is remembered at least until its event is too old to be accepted again. */
export function retentionFor(
  createdAt: number,
  { retentionMs, maxEventAgeMs, now }: RetentionSettings,
): number {
  if (maxEventAgeMs === Number.POSITIVE_INFINITY) return retentionMs;
  return Math.max(retentionMs, createdAt + maxEventAgeMs + RETENTION_MARGIN_MS - now());
}
