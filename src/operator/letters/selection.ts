import type { DeadLetterSummary } from '../../receiver/dead-letters/dead-letters.ts';
import { matchesPattern } from '../../receiver/events/pattern.ts';
import type { Settings } from '../../receiver/settings.ts';

/** Selects dead letters. Several members select those that fit all of them; none selects all. */
export interface LetterSelection {
  /** A type, or a pattern such as `invoice.*`. */
  readonly type?: string | undefined;
  /** The code of the error that parked the event. */
  readonly reason?: string | undefined;
  /** The earliest time of the parking, in milliseconds since the epoch. */
  readonly since?: number | undefined;
  /** The time of the parking before which the selection ends. */
  readonly until?: number | undefined;
}

/** Returns true if a selection has the dead letter. */
export function isSelected(
  { type, reason, parkedAt }: DeadLetterSummary,
  selection: LetterSelection,
): boolean {
  const { type: pattern = '*', reason: wanted = reason } = selection;
  const { since = Number.NEGATIVE_INFINITY, until = Number.POSITIVE_INFINITY } = selection;
  const isOfType = pattern === '*' || (type !== undefined && matchesPattern(pattern, type));
  return isOfType && reason === wanted && parkedAt >= since && parkedAt < until;
}

/**
 * The reason why a deed on a selection passes over a dead letter. `running`: its handlers may still be
 * running. `old`: it may be a recording that a stranger sent again, so only its id selects it. `others`: it
 * is of another provider than the receiver's.
 */
export type SkipReason = 'running' | 'old' | 'others';

/** Returns undefined if a deed on a selection takes the dead letter. */
export function reasonToSkip(
  { provider, reason, runningUntil }: DeadLetterSummary,
  deed: 'replay' | 'drop',
  settings: Pick<Settings, 'now' | 'provider'>,
): SkipReason | undefined {
  if (provider !== settings.provider.storedName) return 'others';
  if (runningUntil !== undefined && runningUntil > settings.now()) return 'running';
  return deed === 'replay' && reason === 'event_too_old' ? 'old' : undefined;
}
