import type { DeadLetters } from '../receiver/dead-letters/dead-letters.ts';
import type { Settings } from '../receiver/settings.ts';
import type { Receiver } from '../receiver-interface.ts';
import { usageError } from './failure.ts';
import { exportsOf, isObject } from './module-exports.ts';

/** The parts of the module of `--receiver` that commands use. */
export interface ReceiverModule {
  readonly receiver: Pick<Receiver, 'replay' | 'drop' | 'close'>;
  /** The dead letters of the receiver, if it has any. */
  readonly deadLetters: DeadLetters | undefined;
  /** Undefined for a receiver of an earlier version. */
  readonly settings?: Settings | undefined;
}

/** The module with all that its receiver can do. One of an earlier version may lack methods. */
export interface LoadedModule extends ReceiverModule {
  readonly receiver: Receiver;
}

/** Imports the module; see {@link exportsOf}. */
export async function loadReceiver(path: string, json: boolean): Promise<LoadedModule> {
  const receiver = (await exportsOf(path, 'receiver', json)).find(isReceiver);
  if (receiver !== undefined) {
    const { deadLetters, settings } = receiver;
    return { receiver, deadLetters, settings };
  }
  throw usageError(
    `${JSON.stringify(path)} must export the result of createReceiver(), as \`receiver\` or as its default`,
  );
}

/** Returns the settings of the receiver. Throws a usage error for one of an earlier version. */
export function requireReceiverSettings({ settings }: ReceiverModule): Settings {
  if (settings !== undefined) return settings;
  throw usageError('the receiver is of posthorn 0.2 or earlier: the module must import this version');
}

function isReceiver(thing: unknown): thing is Receiver & Pick<ReceiverModule, 'settings'> {
  return (
    isObject(thing) &&
    ['replay', 'drop', 'close'].every((name) => typeof Reflect.get(thing, name) === 'function')
  );
}
