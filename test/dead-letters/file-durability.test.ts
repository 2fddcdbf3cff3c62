import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createFileDeadLetters } from 'posthorn/file';
import { expect, onTestFinished, test, vi } from 'vitest';
import { skipIf, skipOnWindows } from '../support/skip-if.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { createLetter } from './conformance.ts';

const OPEN_FILES = '/proc/self/fd';

/** The numbers of the files and directories that are synced while `act` runs, by handles of `fs.promises`. */
async function syncedBy(act: () => Promise<unknown>): Promise<number[]> {
  const some = await open(fileURLToPath(import.meta.url));
  const prototype: FileHandle = Object.getPrototypeOf(some);
  await some.close();
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
