import { flag, valued } from '../command-words.ts';
import { programName } from '../program-name.ts';
import { quote } from '../quote.ts';
import { timeText } from '../time-text.ts';
import type { ChosenEntries } from './chosen-entries.ts';
import type { RerunCommandOptions } from './rerun-options.ts';

/**
 * Returns the same command for a shell. It passes over the events that have run, and ends at the time at
 * which this one began: the events that come later have the mended handler.
 */
export function sameRerun(
  ids: readonly string[],
  options: RerunCommandOptions,
  { until }: Pick<ChosenEntries, 'until'>,
): string {
  const { receiver, handler, run, reason, all, type, outcome, resource, since, concurrency, limit } = options;
  // An id that begins with a dash would be an option.
  const named = ids.some((id) => id.startsWith('-')) ? ['--', ...ids.map(quote)] : ids.map(quote);
  const words = [
    ...valued('handler', handler),
    ...valued('run', run),
    ...valued('reason', reason),
    ...flag('all', all),
    ...valued('type', type),
    ...valued('outcome', outcome),
    ...valued('resource', resource),
    ...valued('since', since === undefined ? undefined : timeText(since)),
    ...valued('until', until === undefined ? undefined : timeText(until)),
    ...valued('receiver', receiver),
    ...valued('concurrency', concurrency === 1 ? undefined : String(concurrency)),
    ...valued('limit', limit?.toString()),
    ...flag('bail', options.bail),
    ...flag('yes', options.yes),
    ...flag('json', options.json),
    ...named,
  ];
  return [programName(), 'events', 'rerun', ...words].join(' ');
}
