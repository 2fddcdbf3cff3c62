import { Console } from 'node:console';
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { withTimeLimit } from '../receiver/timing/time-limit.ts';
import { isInstance, messageOf } from '../receiver/values/foreign-values.ts';
import { CommandError, codeOf, usageError } from './failure.ts';
import { endOnListeningError, isListeningError, listeningError } from './listening-module.ts';

/**
 * Imports the module of an option, such as `--receiver`. Resolves with the values that its export of that
 * name, or its default, can be. With `json`, its output through `console` goes to stderr, because stdout is
 * for the results.
 */
export async function exportsOf(path: string, name: string, json: boolean): Promise<readonly unknown[]> {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) {
    throw usageError(`--${name} must name a file, and ${JSON.stringify(path)} is not one`);
  }
  if (json) globalThis.console = new Console(process.stderr);
  endOnListeningError(path);
  const exports = await importFile(path);
  const inside = (thing: unknown, member: string): unknown =>
    isObject(thing) ? Reflect.get(thing, member) : undefined;
  const byDefault = inside(exports, 'default');
  // CommonJS that a compiler has made of `export default` has it as a member `default` of `module.exports`.
  const compiled = inside(byDefault, 'default');
  const named = [exports, byDefault, compiled].map((each) => inside(each, name));
  return [...named, byDefault, compiled];
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

export function isObject(thing: unknown): thing is object {
  return typeof thing === 'object' && thing !== null;
}
