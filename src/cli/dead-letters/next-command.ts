import { flag, valued } from '../command-words.ts';
import { programName } from '../program-name.ts';
import { quote } from '../quote.ts';
import { letterPlaces } from '../stores/subjects.ts';
import { timeText } from '../time-text.ts';
import type { Portion } from './portion.ts';
import type { Selection, SelectionOptions } from './selection.ts';
import type { SourceOptions } from './source.ts';

interface NextOptions extends SelectionOptions, SourceOptions {
  readonly yes?: boolean;
}

/**
 * The command that goes on with the dead letters that are left, for a shell; undefined if none is left. It
 * begins after the last dead letter that has been tried and stays.
 */
export function nextCommand(
  verb: string,
  selection: Selection,
  portion: Portion,
  options: NextOptions,
): string | undefined {
  if (!selection.skipped.more && portion.untried.length === 0) return undefined;
  const selected = selection.isByIds
    ? portion.untried.map(quote)
    : selectionWords({ ...options, after: portion.lastKept ?? options.after });
  return commandOf(verb, selected, options);
}

/** The command that lists the dead letters after another one. */
export function nextList(after: string, options: NextOptions): string {
  return commandOf('list', selectionWords({ ...options, after }), options);
}

function commandOf(verb: string, selected: readonly string[], options: NextOptions): string {
  const { dir, receiver, json, yes } = options;
  const place = [...valued('dir', dir), ...letterPlaces.wordsOf(options)];
  const others = [...valued('receiver', receiver), ...flag('json', json), ...flag('yes', yes)];
  return [programName(), 'dead-letters', verb, ...selected, ...place, ...others].join(' ');
}

/** An age in `--since` becomes a time, because the dead letters that it meant are older by then. */
function selectionWords({ all, type, reason, since, limit, after }: SelectionOptions): readonly string[] {
  return [
    ...flag('all', all),
    ...valued('type', type),
    ...valued('reason', reason),
    ...valued('since', since === undefined ? undefined : timeText(since)),
    ...valued('limit', limit?.toString()),
    ...valued('after', after),
  ];
}
