import { constants } from 'node:fs';
import { type FileHandle, lstat, open, opendir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { propertyOf } from '../../receiver/values/foreign-values.ts';
import { retryWhileInUse } from './retry-while-in-use.ts';

/** A file of a dead letter, and its place in the order of a list. */
export interface LetterFile {
  readonly name: string;
  /** When the dead letter was parked, in milliseconds since the epoch: the modification time of the file. */
  readonly time: number;
}

/** So many files are examined at once: one by one, a large directory would take several times as long. */
const FILES_AT_ONCE = 32;

/** So many names are read at once. */
const NAMES_AT_ONCE = 1_024;

function isLetterName(name: string): boolean {
  return /^[0-9a-f]{64}\.json$/.test(name);
}

/**
 * The files of the dead letters in a directory, the oldest first; those of one millisecond are sorted by
 * name.
 */
export async function letterFilesByTime(directory: string): Promise<LetterFile[]> {
  const names = (await readdir(directory)).filter(isLetterName);
  const files: LetterFile[] = [];
  for (let start = 0; start < names.length; start += FILES_AT_ONCE) {
    const some = names.slice(start, start + FILES_AT_ONCE);
    files.push(...(await Promise.all(some.map((name) => readTime(directory, name)))).flat());
  }
  return files.sort(compareLetterFiles);
}

export function compareLetterFiles(one: LetterFile, other: LetterFile): number {
  return one.time - other.time || (one.name < other.name ? -1 : Number(one.name > other.name));
}

/** Resolves with the file and its time; with an empty list for a dead letter that was removed meanwhile. */
async function readTime(directory: string, name: string): Promise<LetterFile[]> {
  try {
    const { mtimeMs } = await retryWhileInUse(() => lstat(join(directory, name)));
    // The file system keeps fractions that a double cannot tell exactly.
    return [{ name, time: Math.round(mtimeMs) }];
  } catch (cause) {
    if (propertyOf(cause, 'code') === 'ENOENT') return [];
    throw cause;
  }
}

/**
 * Counts the dead letters in a directory by their names, up to a limit. It takes no longer if there are more.
 */
export async function countLetterFiles(directory: string, limit: number): Promise<number> {
  let count = 0;
  for await (const entry of await opendir(directory, { bufferSize: NAMES_AT_ONCE })) {
    if (count >= limit) break;
    if (isLetterName(entry.name) && entry.isFile()) count += 1;
  }
  return count;
}

/** V8 cannot create a longer string. */
const MAX_TEXT_BYTES = 0x1fff_ffe8;

/**
 * Reads the text of a dead letter. In a directory that others may write to, its name can lead elsewhere, or
 * to something that is not a file: opening a FIFO would block one of the four threads of Node.js for files
 * until another process writes to it.
 */
export async function readLetterFile(path: string): Promise<string> {
  const file = await retryWhileInUse(() => openWithoutFollowing(path));
  try {
    const status = await file.stat();
    if (!status.isFile()) throw new Error('it is not a regular file');
    if (status.size > MAX_TEXT_BYTES) throw new Error(`it has ${status.size} bytes`);
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

/**
 * Windows has neither of the two flags, and no FIFOs. There a link is looked for first, so one that comes at
 * that very moment is followed.
 */
async function openWithoutFollowing(path: string): Promise<FileHandle> {
  if (process.platform !== 'win32')
    return open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  if ((await lstat(path)).isSymbolicLink()) throw new Error('it is a symbolic link, which is not followed');
  return open(path, constants.O_RDONLY);
}
