import { Option } from 'commander';
import type { Journal } from '../../receiver/journal/journal.ts';
import type { CheckedProvider } from '../../receiver/provider/checked-provider.ts';
import { usageError } from '../failure.ts';
import type { JsonOption } from '../options.ts';
import { loadReceiver, requireReceiverSettings } from '../receiver-module.ts';
import type { PlaceOptions } from '../stores/places.ts';
import { storeParts } from '../stores/store-parts.ts';
import { journalPlaces } from '../stores/subjects.ts';

/** The place of the journal: a store, or the receiver's own journal. */
export interface JournalOptions extends PlaceOptions, JsonOption {
  readonly receiver?: string;
}

/** A journal, and the provider of the receiver that it belongs to, if that is known. */
export interface JournalSource {
  readonly journal: Journal;
  readonly provider?: Pick<CheckedProvider, 'types'>;
}

/** The options that say where the journal is. */
export function journalOptions(): readonly Option[] {
  return [
    ...journalPlaces.options(),
    new Option('--receiver <module>', 'a module that exports the receiver, with its journal'),
  ];
}

/** Opens the journal for as long as `use` takes. */
export async function withJournal(
  options: JournalOptions,
  use: (source: JournalSource) => Promise<void>,
): Promise<void> {
  const { receiver, scope, json = false } = options;
  if (receiver !== undefined && scope !== undefined)
    throw usageError(`give one of --scope and --receiver: ${journalPlaces.inOnePlace}`);
  const chosen = journalPlaces.chosenBy(options);
  if (chosen !== undefined) {
    const part = await storeParts[chosen.name]();
    await part.withJournal?.(chosen.place, chosen.options, (journal) => use({ journal }));
  } else if (receiver !== undefined) await withReceiver(receiver, json, use);
  else throw usageError(`say where the journal is: --scope with ${journalPlaces.names}, or --receiver`);
}

async function withReceiver(
  path: string,
  json: boolean,
  use: (source: JournalSource) => Promise<void>,
): Promise<void> {
  const module = await loadReceiver(path, json);
  const { journal, provider } = requireReceiverSettings(module);
  if (journal === undefined)
    throw usageError(
      'the receiver has no journal: give createReceiver the option journal, or say with --scope where the journal is',
    );
  await use({ journal, provider });
  await module.receiver.close();
}
