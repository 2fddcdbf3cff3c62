import { InvalidArgumentError, Option } from 'commander';
import type { Journal } from '../../receiver/journal/journal.ts';
import { checkCanAsk, confirm } from '../confirm.ts';
import { countText } from '../counts.ts';
import { CommandError } from '../failure.ts';
import { createOutput } from '../output.ts';
import { Progress } from '../progress.ts';
import { readAge } from '../time-option.ts';
import { timeText } from '../time-text.ts';
import { noteEmptyScope } from './has-entry.ts';
import { type JournalOptions, withJournal } from './journal-source.ts';

interface PruneOptions extends JournalOptions {
  /** In milliseconds. */
  readonly olderThan: number;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

/** The options that say what is deleted. */
export function pruneOptions(): readonly Option[] {
  return [
    new Option('--older-than <age>', 'first received longer ago than that, such as 90d')
      .argParser(parseAge)
      .makeOptionMandatory(),
    new Option('--dry-run', 'count what would be deleted, without deleting it'),
    new Option('--yes', 'do not ask; needed without a terminal'),
  ];
}

function parseAge(text: string): number {
  const ageMs = readAge(text);
  if (ageMs !== undefined) return ageMs;
  throw new InvalidArgumentError('It must be an age such as 90d or 12h.');
}

/** `posthorn events prune` */
export async function prune(options: PruneOptions): Promise<void> {
  const { olderThan: olderThanMs, scope, dryRun = false, yes = false } = options;
  const output = createOutput(options);
  const isAsked = !yes && !dryRun;
  if (isAsked) checkCanAsk('prune', 'events');
  await withJournal(options, async ({ journal }) => {
    if (isAsked) await ask(olderThanMs);
    const count = await (dryRun ? countOld(journal, olderThanMs) : journal.prune({ olderThanMs }));
    output.print(
      { kind: 'summary', dryRun, pruned: count },
      () => `${count} ${dryRun ? 'would be pruned' : 'pruned'}`,
    );
    if (count === 0) await noteEmptyScope(journal, scope, output);
  });
}

async function ask(olderThanMs: number): Promise<void> {
  const time = timeText(Date.now() - olderThanMs);
  const question = `Delete the events of the journal that were first received before ${time}? They cannot be shown afterwards.`;
  if (!(await confirm(question))) throw new CommandError('failed', 'nothing was deleted');
}

async function countOld(journal: Journal, olderThanMs: number): Promise<number> {
  const progress = new Progress();
  let count = 0;
  for await (const _ of journal.list({ until: Date.now() - olderThanMs, bodies: false })) {
    count += 1;
    if (count % 1_000 === 0) progress.show(`counting: ${countText(count)} so far`);
  }
  progress.clear();
  return count;
}
