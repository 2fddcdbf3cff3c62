import { accessSync, constants, lstatSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ConfigurationError } from '../../receiver/errors.ts';
import { syncNewDirectories } from './sync-directory.ts';

/** Returns the absolute path of a directory for dead letters, which is created if it is missing. */
export function prepareDirectory(directory: unknown): string {
  if (typeof directory !== 'string' || directory === '') {
    throw new ConfigurationError('createFileDeadLetters needs the path of a directory as a non-empty string');
  }
  const root = resolve(directory);
  try {
    const made = mkdirSync(root, { recursive: true, mode: 0o700 });
    if (made !== undefined) syncNewDirectories(root, made);
    accessSync(root, constants.R_OK | constants.W_OK | constants.X_OK);
    removeLeftovers(root);
  } catch (cause) {
    throw new ConfigurationError(
      `dead letters cannot be kept in ${root}: it must be a directory that this process may read and write`,
      { cause },
    );
  }
  return root;
}

const LEFTOVER_AGE_MS = 3_600_000;

/**
 * Removes temporary files of processes that were killed while writing: they contain payment data. Their
 * modification time may be `parkedAt` of an old dead letter already, so `ctime` counts, which nobody can set.
 */
function removeLeftovers(root: string): void {
  const leftovers = readdirSync(root).filter((name) => /^\.[0-9a-f]{64}\.json\..+\.tmp$/.test(name));
  for (const name of leftovers) {
    const status = lstatSync(join(root, name), { throwIfNoEntry: false });
    if (status !== undefined && Date.now() - status.ctimeMs > LEFTOVER_AGE_MS)
      rmSync(join(root, name), { force: true }); // another process that starts now may have been first
  }
}

const OTHERS_WRITE = 0o002;
const GROUP_WRITES = 0o020;
const ROOT = 0;

/**
 * Says which other users may write to the directory, and so forge dead letters; undefined if none may. The
 * sticky bit changes nothing: it keeps others from removing files, but not from adding some. The result
 * serves only as a warning, because volumes of containers often belong to a group or to another user. Windows
 * has no such modes.
 */
export function findExposure(root: string): string | undefined {
  const own = process.getuid?.();
  const status = statSync(root, { throwIfNoEntry: false });
  if (process.platform === 'win32' || own === undefined || status === undefined) return undefined;
  const { mode, uid } = status;
  const writers = [
    ...(mode & OTHERS_WRITE ? ['every user'] : []),
    ...(mode & GROUP_WRITES ? ['its group'] : []),
    ...(uid !== own && uid !== ROOT ? [`its owner (${uid})`] : []),
  ];
  if (writers.length === 0) return undefined;
  return (
    `the dead letters in ${root} can be forged: ${writers.join(', ')} may write to it, and a replay hands ` +
    'them to the handlers. Give it to the user of this process alone: chmod 700'
  );
}
