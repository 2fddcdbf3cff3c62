import { statSync } from 'node:fs';
import { Option } from 'commander';
import type { DeadLetters } from '../../receiver/dead-letters/dead-letters.ts';
import type { CheckedProvider } from '../../receiver/provider/checked-provider.ts';
import { createFileDeadLetters } from '../../stores/file/dead-letters.ts';
import { usageError } from '../failure.ts';
import { loadReceiver, type ReceiverModule } from '../receiver-module.ts';
import type { PlaceOptions } from '../stores/places.ts';
import { storeParts } from '../stores/store-parts.ts';
import { letterPlaces } from '../stores/subjects.ts';
import { awaitConnections } from './await-connections.ts';

/** The place of the dead letters: a directory, a store, or the receiver's own dead letters. */
export interface SourceOptions extends PlaceOptions {
  readonly dir?: string;
  readonly receiver?: string;
  readonly json?: boolean;
}

/** Dead letters, and the receiver that they belong to, if it is known. */
export interface Source {
  readonly deadLetters: DeadLetters;
  readonly receiver?: ReceiverModule['receiver'];
  /** The dead letters of the receiver, which may differ from `deadLetters`. */
  readonly receiverLetters?: ReceiverModule['deadLetters'];
  /** The provider of the receiver. Undefined for a receiver of an earlier version. */
  readonly provider?: Pick<CheckedProvider, 'storedName' | 'types'> | undefined;
}

/** The options that say where the dead letters are. */
export function sourceOptions(needsReceiver = false): readonly Option[] {
  return [
    new Option('--dir <directory>', 'dead letters in files: the directory of createFileDeadLetters'),
    ...letterPlaces.options(),
    new Option(
      '--receiver <module>',
      'a module that exports the receiver, with its store, handlers and dead letters',
    ).makeOptionMandatory(needsReceiver),
  ];
}

/** Opens the dead letters for as long as `use` takes. */
export async function withSource(
  options: SourceOptions,
  use: (source: Source) => Promise<void>,
): Promise<void> {
  const { dir, scope, receiver, json = false } = options;
  if (dir !== undefined && scope !== undefined)
    throw usageError(`give one of --dir and --scope: ${letterPlaces.inOnePlace}`);
  const chosen = letterPlaces.chosenBy(options);
  const useWith = async (deadLetters?: DeadLetters): Promise<void> => {
    if (receiver !== undefined) await withReceiver(receiver, json, deadLetters, use);
    else if (deadLetters !== undefined) await use({ deadLetters });
    else
      throw usageError(
        `say where the dead letters are: --dir, --scope with ${letterPlaces.names}, or --receiver`,
      );
  };
  if (dir !== undefined) return useWith(openDirectory(dir));
  if (chosen === undefined) return useWith();
  const { withDeadLetters } = await storeParts[chosen.name]();
  await withDeadLetters?.(chosen.place, chosen.options, useWith);
}

/** A missing directory is a mistake here, and must not be created. */
function openDirectory(dir: string): DeadLetters {
  if (statSync(dir, { throwIfNoEntry: false })?.isDirectory()) return createFileDeadLetters(dir);
  throw usageError(`--dir must be an existing directory, and ${JSON.stringify(dir)} is not one`);
}

async function withReceiver(
  path: string,
  json: boolean,
  elsewhere: DeadLetters | undefined,
  use: (source: Source) => Promise<void>,
): Promise<void> {
  const module = await loadReceiver(path, json);
  const { receiver, deadLetters: receiverLetters } = await awaitConnections(module);
  const deadLetters = elsewhere ?? receiverLetters;
  if (deadLetters === undefined) {
    throw usageError('the receiver has no dead letters: say where they are with --dir or --scope');
  }
  await use({ receiver, deadLetters, receiverLetters, provider: module.settings?.provider });
  // Completions that are still pending are written within the grace period of close().
  await receiver.close();
}
