import { readdirSync, readlinkSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { createFileDeadLetters } from 'posthorn/file';
import { expect, onTestFinished, test, vi } from 'vitest';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { createLetter } from './conformance.ts';

const OPEN_FILES = '/proc/self/fd';

/** The paths that are synced while `act` runs, by handles of `fs.promises`. */
async function syncedBy(act: () => Promise<unknown>): Promise<string[]> {
  const some = await open('/dev/null');
  const prototype: FileHandle = Object.getPrototypeOf(some);
  await some.close();
  const { sync } = prototype;
  const paths: string[] = [];
  const spy = vi.spyOn(prototype, 'sync').mockImplementation(function (this: FileHandle) {
    paths.push(readlinkSync(join(OPEN_FILES, String(this.fd))));
    return sync.call(this);
  });
  onTestFinished(() => spy.mockRestore());
  await act();
  spy.mockRestore();
  return paths;
}

test.runIf(process.platform === 'linux')('a letter is put and removed durably', async () => {
  const directory = await temporaryDirectory();
  const deadLetters = createFileDeadLetters(directory);
  const letter = createLetter();
  // The name of a file lies in its directory: after a power failure a letter could be gone, or be back.
  expect(await syncedBy(() => deadLetters.put(letter))).toContain(directory);
  expect(await syncedBy(() => deadLetters.remove(letter.id))).toContain(directory);
});

test.runIf(process.platform === 'linux')('directories that are made leave no file open', async () => {
  const parent = await temporaryDirectory();
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
