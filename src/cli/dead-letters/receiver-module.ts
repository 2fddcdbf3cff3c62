import { Console } from 'node:console';
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { DeadLetters } from '../../dead-letters/dead-letters.ts';
import { messageOf } from '../../errors.ts';
import type { Receiver } from '../../receiver.ts';
import { withTimeLimit } from '../../time-limit.ts';
import { CommandError, codeOf, usageError } from '../failure.ts';

/** What the module of `--receiver` exports, by name or as members of its default export. */
export interface ReceiverModule {
  readonly receiver: Pick<Receiver, 'replay' | 'drop' | 'close'>;
  readonly deadLetters: DeadLetters;
}

/** Imports the module. With `json`, what it prints through `console` goes to stderr: stdout is for the results. */
export async function loadReceiver(path: string, json: boolean): Promise<ReceiverModule> {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) {
    throw usageError(`--receiver must name a file, and ${JSON.stringify(path)} is none`);
  }
  if (json) globalThis.console = new Console(process.stderr);
  const exports = await importFile(path);
  const candidates: unknown[] = [exports, isObject(exports) ? Reflect.get(exports, 'default') : undefined];
  const found = candidates.find(isReceiverModule);
  if (found !== undefined) return found;
  throw usageError(
    `${JSON.stringify(path)} must export \`receiver\`, of createReceiver(), and \`deadLetters\`, which it was given`,
  );
}

/** A module may wait for a connection that never comes, and a file is loaded in a fraction of this. */
const LOADING_LIMIT_MS = 10_000;

async function importFile(path: string): Promise<unknown> {
  const late = (): Error => new Error(`it has not finished within ${LOADING_LIMIT_MS} ms`);
  try {
    return await withTimeLimit(import(pathToFileURL(resolve(path)).href), LOADING_LIMIT_MS, late);
  } catch (cause) {
    const advice =
      codeOf(cause) === 'ERR_UNKNOWN_FILE_EXTENSION'
        ? `Node.js ${process.versions.node} runs no TypeScript: name the compiled file`
        : messageOf(cause);
    throw new CommandError('file_unreadable', `${JSON.stringify(path)} cannot be loaded: ${advice}`, {
      cause,
    });
  }
}

function isReceiverModule(candidate: unknown): candidate is ReceiverModule {
  return (
    isObject(candidate) &&
    hasMethods(Reflect.get(candidate, 'receiver'), ['replay', 'drop', 'close']) &&
    hasMethods(Reflect.get(candidate, 'deadLetters'), ['get', 'list', 'remove'])
  );
}

function hasMethods(thing: unknown, names: readonly string[]): boolean {
  return isObject(thing) && names.every((name) => typeof Reflect.get(thing, name) === 'function');
}

function isObject(thing: unknown): thing is object {
  return typeof thing === 'object' && thing !== null;
}
