import type { DeadLetterSummary, DeadLetters } from '../../receiver/dead-letters/dead-letters.ts';
import type { Settings } from '../../receiver/settings.ts';
import { type DeedTime, firstIds, MOST_IDS } from '../deed.ts';
import { LetterScan, type ScanPlace } from './letter-scan.ts';
import { isSelected, type LetterSelection, reasonToSkip, type SkipReason } from './selection.ts';

/** The body of a request to replay or to drop. It has either ids, or a selection with the place to go on. */
export interface LetterDeedBody extends ScanPlace {
  readonly ids?: readonly string[] | undefined;
  readonly selection?: LetterSelection | undefined;
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
  /** The selection that they belong to. */
  readonly selection?: LetterSelection | undefined;
  readonly skipped: Skipped;
  readonly unreadable?: string | undefined;
  /** The body of the request that goes on once the first `tried` ids were tried; undefined at the end. */
  readonly next: (tried: number) => LetterDeedBody | undefined;
}

/** Chooses the dead letters of a request. */
export async function chooseLetters(request: LetterRequest): Promise<ChosenLetters> {
  const { ids } = request.body;
  if (ids === undefined) return chooseSelected(request);
  const { first, rest } = firstIds(ids);
  return {
    ids: first,
    skipped: { running: 0, old: 0, others: 0 },
    next: (tried) =>
      tried < first.length + rest.length ? { ids: [...first.slice(tried), ...rest] } : undefined,
  };
}

async function chooseSelected(request: LetterRequest): Promise<ChosenLetters> {
  const { body, time } = request;
  const search = new LetterSearch(request, () => time.isSearchOver);
  const found: DeadLetterSummary[] = [];
  for await (const letter of search.letters()) {
    if (found.length === MOST_IDS) break;
    found.push(letter);
  }
  const { selection, skipped, unreadable } = search;
  const next = (tried: number): LetterDeedBody | undefined => {
    if (tried === found.length) return search.next;
    const last = found[tried - 1];
    const { id = body.after, parkedAt = body.parkedAt } = last ?? {};
    return { selection, after: id, parkedAt };
  };
  return { ids: found.map(({ id }) => id), selection, skipped, unreadable, next };
}

/** Finds the dead letters that a deed on a selection takes. */
export class LetterSearch {
  readonly #request: LetterRequest;
  readonly #scan: LetterScan;
  /** The selection. Without events that are parked meanwhile: the operator has not seen them. */
  readonly selection: LetterSelection;
  readonly skipped: Record<SkipReason, number> = { running: 0, old: 0, others: 0 };

  constructor(request: LetterRequest, isOver: () => boolean) {
    const { body, deadLetters, settings } = request;
    this.#request = request;
    this.#scan = new LetterScan(deadLetters, { after: body.after, parkedAt: body.parkedAt, isOver });
    const { until = Number.POSITIVE_INFINITY } = body.selection ?? {};
    this.selection = { ...body.selection, until: Math.min(until, settings.now()) };
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
