/** The settings for {@link retentionFor} and {@link rememberedMs}. */
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
  // A time that no check has bounded must not keep an id for years, and stores take whole milliseconds.
  const aheadMs = Math.min(createdAtMs - now(), RETENTION_MARGIN_MS);
  return Math.max(retentionMs, Math.ceil(aheadMs + maxEventAgeMs + RETENTION_MARGIN_MS));
}

/**
 * The age up to which the store still knows an event that was handled soon after its creation. It is less
 * than the retention by a margin, because clocks differ.
 */
export function rememberedMs(isDated: boolean, settings: RetentionSettings): number {
  const keptMs = retentionFor(isDated ? settings.now() : undefined, settings);
  return keptMs - Math.min(RETENTION_MARGIN_MS, keptMs / 10);
}
