import type { Journal, JournalSelection } from '../../receiver/journal/journal.ts';
import type { Output } from '../output.ts';
import { emptyScope } from '../stores/empty-scope.ts';

/** Resolves with true if a journal has an entry of a selection. */
export async function hasEntry(journal: Journal, selection: JournalSelection = {}): Promise<boolean> {
  for await (const _ of journal.list({ ...selection, limit: 1, bodies: false })) return true;
  return false;
}

/** Says so if a scope in which a command found nothing has no entry at all. */
export async function noteEmptyScope(
  journal: Journal,
  scope: string | undefined,
  output: Output,
): Promise<void> {
  if (scope === undefined || (await hasEntry(journal))) return;
  output.note(emptyScope('the journal has no event', scope));
}
