import type { Journal } from '../../receiver/journal/journal.ts';
import { keyOfRecord } from '../../receiver/journal/record.ts';
import type { Settings } from '../../receiver/settings.ts';
import { type DeedTime, firstIds, MOST_IDS } from '../deed.ts';
import type { EntryFilter } from './entry-filter.ts';

/** The body of a request to rerun. It has either ids or a selection. */
export interface RerunBody {
  readonly handlers: readonly string[];
  readonly run: string;
  readonly reason?: string | undefined;
  readonly ids?: readonly string[] | undefined;
  readonly selection?: EntryFilter | undefined;
  /** With a selection, the key of the entry after which it goes on. */
  readonly after?: string | undefined;
  readonly dryRun?: boolean | undefined;
}

/** A rerun that is asked for. */
export interface RerunRequest {
  readonly journal: Journal;
  readonly settings: Pick<Settings, 'now'>;
  readonly body: RerunBody;
  readonly time: DeedTime;
}

/** The entries that one request works on. */
export interface ChosenEntries {
  readonly ids: readonly string[];
  /** The selection that they belong to. */
  readonly selection?: EntryFilter | undefined;
  /** The body of the request that goes on once the first `tried` ids were tried; undefined at the end. */
  readonly next: (tried: number) => RerunBody | undefined;
}

/** Chooses the entries of a request. */
export async function chooseEntries({ body, journal, settings }: RerunRequest): Promise<ChosenEntries> {
  const { after, ids, selection: given, ...others } = body;
  if (ids !== undefined) {
    const { first, rest } = firstIds(ids);
    return {
      ids: first,
      next: (tried) =>
        tried < first.length + rest.length ? { ...others, ids: [...first.slice(tried), ...rest] } : undefined,
    };
  }
  // Events that come meanwhile were not shown to the operator.
  const { until = Number.POSITIVE_INFINITY } = given ?? {};
  const selection = { ...given, until: Math.min(until, settings.now()) };
  const keys: string[] = [];
  for await (const entry of journal.list({ ...selection, after, limit: MOST_IDS + 1, bodies: false }))
    keys.push(keyOfRecord(entry));
  return {
    ids: keys.slice(0, MOST_IDS),
    selection,
    next: (tried) =>
      tried < keys.length ? { ...others, selection, after: keys[tried - 1] ?? after } : undefined,
  };
}
