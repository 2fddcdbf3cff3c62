import type { DeadLetterSummary } from '../../receiver/dead-letters/dead-letters.ts';
import { type LetterDeedBody, type LetterRequest, LetterSearch, type Skipped } from './choose.ts';
import { type LetterSelection, reasonToSkip } from './selection.ts';

/** The dead letters that a deed would take, counted by type and reason. */
export interface LetterForecast {
  readonly dryRun: true;
  readonly count: number;
  readonly counts: readonly LetterCount[];
  /** The selection as of now, for the deed: without what is parked after the count. */
  readonly selection?: LetterSelection | undefined;
  readonly skipped: Skipped;
  readonly unreadable?: string | undefined;
  readonly next?: LetterDeedBody | undefined;
}

interface LetterCount {
  readonly type?: string | undefined;
  readonly reason: string;
  count: number;
}

/** Counts what a deed would take, and does nothing. */
export async function foreseeLetters(request: LetterRequest): Promise<LetterForecast> {
  const { ids } = request.body;
  return ids === undefined ? foreseeSelected(request) : foreseeNamed(request, [...new Set(ids)]);
}

async function foreseeSelected(request: LetterRequest): Promise<LetterForecast> {
  const search = new LetterSearch(request, () => request.time.isOver);
  const counts = new LetterCounts();
  for await (const letter of search.letters()) counts.add(letter);
  const next = search.next && { ...search.next, dryRun: true };
  const { selection, skipped, unreadable } = search;
  return { ...counts.all, selection, skipped, unreadable, next };
}

/** Counts the dead letters of ids. Those that are gone are in no number. */
async function foreseeNamed(
  { deadLetters, deed, settings, time }: LetterRequest,
  ids: readonly string[],
): Promise<LetterForecast> {
  const counts = new LetterCounts();
  const skipped = { running: 0, old: 0, others: 0 };
  let tried = 0;
  for (const id of ids) {
    if (time.isOver) break;
    const letter = await deadLetters.get(id);
    tried += 1;
    const reason = letter && reasonToSkip(letter, deed, settings);
    // An id selects what is old.
    if (reason === 'running' || reason === 'others') skipped[reason] += 1;
    else if (letter !== undefined) counts.add(letter);
  }
  const next = tried < ids.length ? { ids: ids.slice(tried), dryRun: true } : undefined;
  return { ...counts.all, skipped, next };
}

class LetterCounts {
  readonly #counts = new Map<string, LetterCount>();

  add({ type, reason }: DeadLetterSummary): void {
    const key = JSON.stringify([type, reason]);
    const counted = this.#counts.get(key) ?? { type, reason, count: 0 };
    this.#counts.set(key, counted);
    counted.count += 1;
  }

  get all(): Pick<LetterForecast, 'dryRun' | 'count' | 'counts'> {
    const counts = [...this.#counts.values()];
    return { dryRun: true, count: counts.reduce((sum, { count }) => sum + count, 0), counts };
  }
}
