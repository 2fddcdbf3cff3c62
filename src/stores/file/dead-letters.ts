import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, rename, rm, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DeadLetter, DeadLetters } from '../../receiver/dead-letters/dead-letters.ts';
import { withExposure } from '../../receiver/dead-letters/exposure.ts';
import { DeadLetterError } from '../../receiver/errors.ts';
import { messageOf, propertyOf } from '../../receiver/values/foreign-values.ts';
import { createLetterList } from '../kit/letter-list.ts';
import { NewerLetterError, parseLetter, serializeLetter } from '../kit/serialized-letter.ts';
import { findExposure, prepareDirectory } from './letter-directory.ts';
import {
  compareLetterFiles,
  countLetterFiles,
  type LetterFile,
  letterFilesByTime,
  readLetterFile,
} from './letter-files.ts';
import { retryWhileInUse } from './retry-while-in-use.ts';
import { shareSyncs } from './sync-directory.ts';

const EXTENSION = '.json';

/**
 * Keeps dead letters in a directory, one file per event, named by the SHA-256 of its id. Only the owner can
 * read the files, because they contain payment data. If others may write to the directory, the first report
 * of the receiver warns `dead_letters_exposed`. Several processes may share the directory. The modification
 * time of a file is `parkedAt`: copy the directory with its times (`cp -a`), because `list` sorts by them.
 * `list` can continue `after` one that is no longer there if this object has listed it. On Windows a power
 * failure can undo what was done in the last seconds, because directories cannot be synced there. Operations
 * reject with DeadLetterError.
 *
 * @throws ConfigurationError if the directory cannot be created or written to.
 *
 * @example
 * ```ts
 * import { createReceiver } from 'posthorn';
 * import { createFileDeadLetters } from 'posthorn/file';
 *
 * const deadLetters = createFileDeadLetters('/var/lib/billing/dead-letters');
 * const receiver = createReceiver({ signingKey, deadLetters });
 * ```
 */
export function createFileDeadLetters(directory: string): DeadLetters {
  const root = prepareDirectory(directory);
  const pathOf = (id: string): string => join(root, nameOf(id));
  const syncDirectory = shareSyncs(root);
  const deadLetters: DeadLetters = {
    put: async (letter) => {
      const text = serializeLetter(letter, 2);
      await orUnavailable(`cannot write a dead letter to ${root}`, async () => {
        await writeWhole(root, letter, text);
        await syncDirectory();
      });
    },

    get: (id) => readLetter(pathOf(id)),

    remove: (id) =>
      orUnavailable(`cannot remove the dead letter of ${JSON.stringify(id)} from ${root}`, async () => {
        const isRemoved = await removeFile(pathOf(id));
        if (isRemoved) await syncDirectory();
        return isRemoved;
      }),

    count: ({ limit }) =>
      orUnavailable(`cannot count the dead letters in ${root}`, () => countLetterFiles(root, limit)),

    list: createLetterList<LetterFile>(nameOf, async function* (lastName, lastFile) {
      const files = await orUnavailable(`cannot list the dead letters in ${root}`, () =>
        letterFilesByTime(root),
      );
      const last = lastFile ?? files.find(({ name }) => name === lastName);
      for (const file of files) {
        if (last !== undefined && compareLetterFiles(file, last) <= 0) continue;
        yield { key: file.name, place: file, read: () => readLetter(join(root, file.name)) };
      }
    }),
  };
  return withExposure(deadLetters, findExposure(root));
}

function nameOf(id: string): string {
  return createHash('sha256').update(id, 'utf8').digest('hex') + EXTENSION;
}

/** Returns true if the file was there. */
async function removeFile(path: string): Promise<boolean> {
  try {
    await retryWhileInUse(() => unlink(path));
    return true;
  } catch (cause) {
    if (isMissing(cause)) return false;
    throw cause;
  }
}

/** Rejects with an error that says with `message` what work could not be done. */
async function orUnavailable<Result>(message: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    throw unavailable(message, cause);
  }
}

/** Writes a file in one step: a reader sees the old dead letter or the new one, never a part. */
async function writeWhole(root: string, { id, parkedAt }: DeadLetter, text: string): Promise<void> {
  const name = nameOf(id);
  const temporary = join(root, `.${name}.${randomUUID()}.tmp`);
  try {
    const file = await openNew(temporary);
    try {
      await file.writeFile(text);
      // Here, so that a dead letter that takes the place of another one is at no moment younger.
      await setTime(file, parkedAt);
      await file.sync();
    } finally {
      await file.close();
    }
    await retryWhileInUse(() => rename(temporary, join(root, name)));
  } catch (cause) {
    await rm(temporary, { force: true }).catch(() => {});
    throw cause;
  }
}

/** A file system that keeps no times is not a reason to fail. */
async function setTime(file: FileHandle, timeMs: number): Promise<void> {
  await file.utimes(timeMs / 1_000, timeMs / 1_000).catch(() => {});
}

/** Opens a new file, and creates the directory again if it was removed. */
async function openNew(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx', 0o600);
  } catch (cause) {
    if (!isMissing(cause)) throw cause;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    return open(path, 'wx', 0o600);
  }
}

async function readLetter(path: string): Promise<DeadLetter | undefined> {
  const text = await readText(path);
  if (text === undefined) return undefined;
  try {
    return parseLetter(text);
  } catch (cause) {
    const isNewer = cause instanceof NewerLetterError;
    const advice = isNewer
      ? `update posthorn: ${cause.message}`
      : 'it is not a letter: repair the file or move it out of the directory';
    throw unreadable(path, advice, cause);
  }
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readLetterFile(path);
  } catch (cause) {
    if (isMissing(cause)) return undefined;
    if (propertyOf(cause, 'code') === 'ENOTDIR')
      throw unavailable(`cannot read the dead letter ${path}`, cause);
    throw unreadable(path, `let this process read it, or move it away: ${messageOf(cause)}`, cause);
  }
}

/** One dead letter is at fault, not the directory. */
function unreadable(path: string, advice: string, cause: unknown): DeadLetterError {
  const message = `the dead letter ${path} cannot be read; ${advice}`;
  return new DeadLetterError('dead_letter_unreadable', message, { cause });
}

function isMissing(cause: unknown): boolean {
  return propertyOf(cause, 'code') === 'ENOENT';
}

function unavailable(message: string, cause: unknown): DeadLetterError {
  return new DeadLetterError('dead_letters_unavailable', `${message}: ${messageOf(cause)}`, { cause });
}
