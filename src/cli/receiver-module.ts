import { Console } from 'node:console';
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { DeadLetters } from '../receiver/dead-letters/dead-letters.ts';
import type { Settings } from '../receiver/settings.ts';
import { withTimeLimit } from '../receiver/timing/time-limit.ts';
import { isInstance, messageOf } from '../receiver/values/foreign-values.ts';
import type { Receiver } from '../receiver-interface.ts';
import { CommandError, codeOf, usageError } from './failure.ts';
import { endOnListeningError, isListeningError, listeningError } from './listening-module.ts';

/** The parts of the module of `--receiver` that commands use. */
export interface ReceiverModule {
  readonly receiver: Pick<Receiver, 'replay' | 'drop' | 'close'>;
  /** The dead letters of the receiver, if it has any. */
  readonly deadLetters: DeadLetters | undefined;
  /** Undefined for a receiver of an earlier version. */
  readonly settings?: Settings | undefined;
}

/**
 * Imports the module. With `json`, its output through `console` goes to stderr, because stdout is for the
 * results.
 */
export async function loadReceiver(path: string, json: boolean): Promise<ReceiverModule> {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) {
    throw usageError(`--receiver must name a file, and ${JSON.stringify(path)} is not one`);
  }
  if (json) globalThis.console = new Console(process.stderr);
  endOnListeningError(path);
  const exports = await importFile(path);
  const inside = (thing: unknown, name: string): unknown =>
    isObject(thing) ? Reflect.get(thing, name) : undefined;
  const byDefault = inside(exports, 'default');
  // CommonJS that a compiler has made of `export default` has it as a member `default` of `module.exports`.
  const compiled = inside(byDefault, 'default');
  const named = [exports, byDefault, compiled].map((each) => inside(each, 'receiver'));
  const receiver = [...named, byDefault, compiled].find(isReceiver);
  if (receiver !== undefined) {
    const { deadLetters, settings } = receiver;
    return { receiver, deadLetters, settings };
  }
  throw usageError(
    `${JSON.stringify(path)} must export the result of createReceiver(), as \`receiver\` or as its default`,
  );
}

/** A module may wait for a connection that never comes. Loading a file takes a fraction of this. */
const LOADING_LIMIT_MS = 10_000;

async function importFile(path: string): Promise<unknown> {
  const late = (): CommandError => stillLoading(path);
  try {
    return await withTimeLimit(import(pathToFileURL(resolve(path)).href), LOADING_LIMIT_MS, late);
  } catch (cause) {
    if (isListeningError(cause)) throw listeningError(path);
    if (isInstance(cause, CommandError)) throw cause;
    const advice =
      codeOf(cause) === 'ERR_UNKNOWN_FILE_EXTENSION'
        ? `Node.js ${process.versions.node} cannot run TypeScript: name the compiled file`
        : messageOf(cause);
    throw new CommandError('file_unreadable', `${JSON.stringify(path)} cannot be loaded: ${advice}`, {
      cause,
    });
  }
}

/** Nearly always the module waits at its top level, by `await redis.connect()` for example. */
function stillLoading(path: string): CommandError {
  return new CommandError(
    'unreachable',
    `${JSON.stringify(path)} has not finished loading within ${LOADING_LIMIT_MS} ms: it waits for something, such as a connection to Redis; check that the server is running`,
  );
}

function isReceiver(thing: unknown): thing is Receiver & Pick<ReceiverModule, 'settings'> {
  return (
    isObject(thing) &&
    ['replay', 'drop', 'close'].every((name) => typeof Reflect.get(thing, name) === 'function')
  );
}

function isObject(thing: unknown): thing is object {
  return typeof thing === 'object' && thing !== null;
}
