import type { JournalSelection } from '../../receiver/journal/journal.ts';
import { flag, valued } from '../command-words.ts';
import { plural } from '../counts.ts';
import { usageError } from '../failure.ts';
import { createReadingOutput } from '../output.ts';
import { printList } from '../print-list.ts';
import { programName } from '../program-name.ts';
import { journalPlaces } from '../stores/subjects.ts';
import { timeText } from '../time-text.ts';
import { noteEmptyScope } from './has-entry.ts';
import { EntrySelection } from './journal-selection.ts';
import { type JournalOptions, withJournal } from './journal-source.ts';
import { entryForm } from './print-entry.ts';

type ListOptions = JournalOptions & JournalSelection;

/** `posthorn events list` */
export async function list(options: ListOptions): Promise<void> {
  const output = createReadingOutput(options);
  const { since = Number.NEGATIVE_INFINITY, until = Number.POSITIVE_INFINITY, scope } = options;
  if (since >= until) throw usageError('--since must be before --until: no event was received between them');
  await withJournal(options, async (source) => {
    const selection = new EntrySelection(source, { ...options, bodies: false });
    const { count, lastId } = await printList(selection.entries(), entryForm, output);
    const next = selection.hasMore && lastId !== undefined ? nextList(lastId, options) : undefined;
    output.print({ kind: 'summary', events: count, more: selection.hasMore, next }, () => [
      `${plural(count, 'event')}${selection.hasMore ? ', and more beyond --limit' : ''}`,
      ...(next === undefined ? [] : [`the rest: ${next}`]),
    ]);
    if (count === 0) await noteEmptyScope(source.journal, scope, output);
  });
}

/**
 * The command that lists the entries after another one, for a shell. An age in `--since` or `--until` becomes
 * a time, because it would mean other entries by then.
 */
function nextList(after: string, options: ListOptions): string {
  const { type, outcome, resource, since, until, limit, receiver, json } = options;
  const words = [
    ...valued('type', type),
    ...valued('outcome', outcome),
    ...valued('resource', resource),
    ...valued('since', since === undefined ? undefined : timeText(since)),
    ...valued('until', until === undefined ? undefined : timeText(until)),
    ...valued('limit', limit?.toString()),
    ...valued('after', after),
    ...journalPlaces.wordsOf(options),
    ...valued('receiver', receiver),
    ...flag('json', json),
  ];
  return [programName(), 'events', 'list', ...words].join(' ');
}
