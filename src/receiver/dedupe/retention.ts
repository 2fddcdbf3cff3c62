/** The settings for {@link retentionFor}. */
export interface RetentionSettings {
  readonly retentionMs: number;
  readonly maxEventAgeMs: number;
  readonly now: () => number;
}

/** Ids are kept longer by this, because clocks differ. */
const RETENTION_MARGIN_MS = 10 * 60_000;

/**
 * A completed id is remembered at least until its event is too old to be accepted again. Without the time of
 * its creation it is remembered for `retentionMs`.
 */
export function retentionFor(
  createdAtMs: number | undefined,
  { retentionMs, maxEventAgeMs, now }: RetentionSettings,
): number {
  if (createdAtMs === undefined || maxEventAgeMs === Number.POSITIVE_INFINITY) return retentionMs;
  return Math.max(retentionMs, createdAtMs + maxEventAgeMs + RETENTION_MARGIN_MS - now());
}
