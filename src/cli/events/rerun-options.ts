import type { JournalSelection } from '../../receiver/journal/journal.ts';
import { usageError } from '../failure.ts';
import type { JsonOption } from '../options.ts';

/** The options of `posthorn events rerun`. */
export interface RerunCommandOptions extends JsonOption, EntryFilter {
  readonly receiver: string;
  readonly handler: string;
  readonly run: string;
  readonly reason?: string;
  readonly all?: boolean;
  readonly dryRun?: boolean;
  readonly concurrency: number;
  /** The number of events that run. */
  readonly limit?: number;
  readonly bail?: boolean;
  readonly yes?: boolean;
}

/** The options that select entries of the journal. */
export type EntryFilter = Pick<JournalSelection, 'type' | 'outcome' | 'resource' | 'since' | 'until'>;

/** The options as they were given. */
export type GivenRerunOptions = Omit<RerunCommandOptions, 'run'> & { readonly run?: string };

/** Throws a usage error unless the command names the run, and says which events are meant. */
export function checkRerunOptions(
  ids: readonly string[],
  { run, ...options }: GivenRerunOptions,
): RerunCommandOptions {
  const { all, type, outcome, resource, since, until } = options;
  if (run === undefined)
    throw usageError(
      '--run is missing: name what is done, such as --run fix-1127. With the same name the same command, given ' +
        'again after an interruption, passes over the events that it has run',
    );
  const filters = [type, outcome, resource, since, until].filter((filter) => filter !== undefined);
  const isSelection = all === true || filters.length > 0;
  const words = '--all, --type, --resource, --since, --until or --outcome';
  if (ids.length > 0 && isSelection) throw usageError(`give ids or a selection, not both: ids, or ${words}`);
  if (ids.length === 0 && !isSelection) throw usageError(`say which events: ids, ${words}`);
  if (since !== undefined && until !== undefined && since >= until)
    throw usageError('--since must be before --until: no event was received between them');
  return { ...options, run };
}
