import type { DeadLetterSummary, DeadLetters } from '../../receiver/dead-letters/dead-letters.ts';
import type { Settings } from '../../receiver/settings.ts';
import { type DeedTime, MOST_IDS } from '../deed.ts';
import { LetterScan } from './letter-scan.ts';
import { isSelected, type LetterSelection, reasonToSkip, type SkipReason } from './selection.ts';

/** The body of a request to replay or to drop. It has either ids or a selection. */
export interface LetterDeedBody {
  readonly ids?: readonly string[] | undefined;
  readonly selection?: LetterSelection | undefined;
  /** With a selection, the id of the dead letter after which it goes on. */
  readonly after?: string | undefined;
  readonly dryRun?: boolean | undefined;
}

/** A deed on dead letters that is asked for. */
export interface LetterRequest {
  readonly deed: 'replay' | 'drop';
  readonly deadLetters: DeadLetters;
  readonly settings: Pick<Settings, 'now' | 'provider'>;
  readonly body: LetterDeedBody;
  readonly time: DeedTime;
}

/** The number of dead letters that a deed on a selection passes over. */
export type Skipped = Readonly<Record<SkipReason, number>>;

/** The dead letters that one request works on. */
export interface ChosenLetters {
  readonly ids: readonly string[];
  readonly skipped: Skipped;
  readonly unreadable?: string | undefined;
  /** The body of the request that goes on once the first `tried` ids were tried; undefined at the end. */
  readonly next: (tried: number) => LetterDeedBody | undefined;
}

/** The dead letters that a deed would take, counted by type and reason. */
export interface LetterForecast {
  readonly dryRun: true;
  readonly count: number;
  readonly counts: readonly LetterCount[];
  readonly skipped: Skipped;
  readonly unreadable?: string | undefined;
  readonly next?: LetterDeedBody | undefined;
}

type LetterKind = Pick<DeadLetterSummary, 'type' | 'reason'>;

interface LetterCount extends LetterKind {
  readonly count: number;
}

/** Chooses the dead letters of a request. */
export async function chooseLetters(request: LetterRequest): Promise<ChosenLetters> {
  const { ids } = request.body;
  return ids === undefined ? chooseSelected(request) : chooseNamed([...new Set(ids)]);
}

function chooseNamed(ids: readonly string[]): ChosenLetters {
  return {
    ids: ids.slice(0, MOST_IDS),
    skipped: { running: 0, old: 0, others: 0 },
    next: (tried) => (tried < ids.length ? { ids: ids.slice(tried) } : undefined),
  };
}

async function chooseSelected(request: LetterRequest): Promise<ChosenLetters> {
  const { after } = request.body;
  const search = new LetterSearch(request, request.time.searchEndsAt);
  const ids: string[] = [];
  for await (const { id } of search.letters()) {
    if (ids.length === MOST_IDS) break;
    ids.push(id);
  }
  const { selection, skipped, unreadable } = search;
  return {
    ids,
    skipped,
    unreadable,
    next: (tried) => (tried < ids.length ? { selection, after: ids[tried - 1] ?? after } : search.next),
  };
}

/** Counts what a deed would take, and does nothing. */
export async function foreseeLetters(request: LetterRequest): Promise<LetterForecast> {
  const { body, deadLetters, time } = request;
  const found: LetterKind[] = [];
  if (body.ids !== undefined) {
    const { ids, next, skipped } = await chooseLetters(request);
    for (const id of ids) {
      const letter = await deadLetters.get(id);
      if (letter !== undefined) found.push(toKind(letter));
    }
    return forecastOf(found, skipped, next(ids.length));
  }
  const search = new LetterSearch(request, time.endsAt);
  for await (const letter of search.letters()) found.push(toKind(letter));
  return { ...forecastOf(found, search.skipped, search.next), unreadable: search.unreadable };
}

function toKind({ reason, type }: DeadLetterSummary): LetterKind {
  return { type, reason };
}

function forecastOf(
  letters: readonly LetterKind[],
  skipped: Skipped,
  next: LetterDeedBody | undefined,
): LetterForecast {
  const counts = new Map<string, LetterCount>();
  for (const { type, reason } of letters) {
    const key = JSON.stringify([type, reason]);
    const counted = counts.get(key) ?? { type, reason, count: 0 };
    counts.set(key, { ...counted, count: counted.count + 1 });
  }
  return {
    dryRun: true,
    count: letters.length,
    counts: [...counts.values()],
    skipped,
    next: next && { ...next, dryRun: true },
  };
}

/** Finds the dead letters that a deed on a selection takes. */
class LetterSearch {
  readonly #request: LetterRequest;
  readonly #scan: LetterScan;
  /** It ends now: events that are parked meanwhile were not shown to the operator. */
  readonly selection: LetterSelection;
  readonly skipped: Record<SkipReason, number> = { running: 0, old: 0, others: 0 };

  constructor(request: LetterRequest, endsAt: number) {
    const { body, deadLetters, settings } = request;
    this.#request = request;
    this.#scan = new LetterScan(deadLetters, body.after, endsAt);
    this.selection = { until: settings.now(), ...body.selection };
  }

  get next(): LetterDeedBody | undefined {
    return this.#scan.next && { selection: this.selection, ...this.#scan.next };
  }

  get unreadable(): string | undefined {
    return this.#scan.unreadable;
  }

  async *letters(): AsyncGenerator<DeadLetterSummary, void, undefined> {
    const { deed, settings } = this.#request;
    for await (const letter of this.#scan.letters()) {
      if (!isSelected(letter, this.selection)) continue;
      const reason = reasonToSkip(letter, deed, settings);
      if (reason === undefined) yield letter;
      else this.skipped[reason] += 1;
    }
  }
}
