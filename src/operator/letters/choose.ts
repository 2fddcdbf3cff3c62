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

/** Finds the dead letters that a deed on a selection takes. */
export class LetterSearch {
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
