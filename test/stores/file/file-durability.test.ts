import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createFileDeadLetters } from 'posthorn/file';
import { expect, onTestFinished, test, vi } from 'vitest';
import { skipIf, skipOnWindows } from '../../support/skip-if.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { createLetter } from '../kit/conformance.ts';

const OPEN_FILES = '/proc/self/fd';

async function fileHandlePrototype(): Promise<FileHandle> {
  const some = await open(fileURLToPath(import.meta.url));
  await some.close();
  return Object.getPrototypeOf(some);
}

/** The numbers of the files and directories that are synced while `act` runs, by handles of `fs.promises`. */
async function syncedBy(act: () => Promise<unknown>): Promise<number[]> {
  const prototype = await fileHandlePrototype();
  const { sync } = prototype;
  const numbers: number[] = [];
  const spy = vi.spyOn(prototype, 'sync').mockImplementation(async function (this: FileHandle) {
    numbers.push((await this.stat()).ino);
    return sync.call(this);
  });
  onTestFinished(() => spy.mockRestore());
  await act();
  spy.mockRestore();
  return numbers;
}

test('a letter is put and removed durably', async (context) => {
  skipOnWindows(context, 'Windows cannot sync directories');
  const directory = temporaryDirectory();
  const { ino } = await stat(directory);
  const deadLetters = createFileDeadLetters(directory);
  const letter = createLetter();
  // The name of a file lies in its directory: after a power failure a letter could be gone, or be back.
  expect(await syncedBy(() => deadLetters.put(letter))).toContain(ino);
  expect(await syncedBy(() => deadLetters.remove(letter.id))).toContain(ino);
});

test('a directory that could not be synced once is synced for the next letter', async (context) => {
  skipOnWindows(context, 'Windows cannot sync directories');
  const directory = temporaryDirectory();
  const deadLetters = createFileDeadLetters(directory);
  const prototype = await fileHandlePrototype();
  const { sync } = prototype;
  let failures = 0;
  const spy = vi.spyOn(prototype, 'sync').mockImplementation(async function (this: FileHandle) {
    if (failures > 0 || !(await this.stat()).isDirectory()) return sync.call(this);
    failures += 1;
    throw new Error('EIO');
  });
  onTestFinished(() => spy.mockRestore());
  await expect(deadLetters.put(createLetter())).rejects.toMatchObject({ code: 'dead_letters_unavailable' });
  const letter = createLetter();
  await deadLetters.put(letter);
  expect(await deadLetters.remove(letter.id)).toBe(true);
});

test('directories that are made leave no file open', async (context) => {
  skipIf(context, !existsSync(OPEN_FILES), `there is no ${OPEN_FILES}`);
  const parent = temporaryDirectory();
  const within = (): string[] =>
    readdirSync(OPEN_FILES).flatMap((descriptor) => {
      try {
        return [readlinkSync(join(OPEN_FILES, descriptor))].filter((path) => path.startsWith(parent));
      } catch {
        return []; // the one that lists them
      }
    });
  createFileDeadLetters(join(parent, 'a', 'b', 'c', 'd'));
  expect(within()).toEqual([]);
});
