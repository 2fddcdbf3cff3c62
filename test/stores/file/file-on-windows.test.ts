import fs from 'node:fs';
import { type FileHandle, open, readdir, rename, symlink } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createFileDeadLetters } from 'posthorn/file';
import { createSandbox } from 'posthorn/sandbox';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { errorOf } from '../../support/error-of.ts';
import { readAll } from '../../support/read-all.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { createLetter } from '../kit/conformance.ts';

// What Node.js does with files on Windows, imitated on every system. On Windows itself
// .github/workflows/check.yml runs these and all other tests of letters in files.

/** Puts spies in the place of functions that our modules import by their names, until the test is over. */
function spied(...spies: readonly { readonly mockRestore: () => void }[]): void {
  syncBuiltinESMExports();
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore();
    syncBuiltinESMExports();
  });
}

function refusal(code: string): Error {
  return Object.assign(new Error(`${code}: refused as on Windows`), { code });
}

/** Windows flushes only what is open for writing, and a directory is not. */
async function refuseToSyncDirectories(): Promise<void> {
  const some = await open(fileURLToPath(import.meta.url));
  const prototype: FileHandle = Object.getPrototypeOf(some);
  await some.close();
  const { sync } = prototype;
  const asynchronous = vi.spyOn(prototype, 'sync').mockImplementation(async function (this: FileHandle) {
    if ((await this.stat()).isDirectory()) throw refusal('EPERM');
    return sync.call(this);
  });
  const { fsyncSync } = fs;
  const synchronous = vi.spyOn(fs, 'fsyncSync').mockImplementation((descriptor) => {
    if (fs.fstatSync(descriptor).isDirectory()) throw refusal('EPERM');
    fsyncSync(descriptor);
  });
  spied(asynchronous, synchronous);
}

/** Another program has each file open for some tries. */
function refuse(name: 'lstat' | 'open' | 'rename' | 'unlink', code: string, times = 3) {
  const spy = vi.spyOn(fs.promises, name);
  for (let count = 0; count < times; count += 1) spy.mockRejectedValueOnce(refusal(code));
  spied(spy);
  return spy;
}

beforeEach(() => {
  const real = Object.getOwnPropertyDescriptor(process, 'platform') ?? {};
  Object.defineProperty(process, 'platform', { ...real, value: 'win32' });
  onTestFinished(() => void Object.defineProperty(process, 'platform', real));
});

describe('on Windows', () => {
  test('letters are put and removed, though no directory can be synced', async () => {
    await refuseToSyncDirectories();
    const directory = join(temporaryDirectory(), 'made', 'on demand');
    const deadLetters = createFileDeadLetters(directory);
    const letter = createLetter();
    await deadLetters.put(letter);
    expect((await readAll(deadLetters.list())).map(({ id }) => id)).toEqual([letter.id]);
    expect(await deadLetters.remove(letter.id)).toBe(true);
    expect(await readdir(directory)).toEqual([]);
  });

  test('a directory is made, though Node.js returns its path in another form', async () => {
    const directory = join(temporaryDirectory(), 'made', 'on demand');
    const { mkdirSync } = fs;
    const spy = vi.spyOn(fs, 'mkdirSync').mockImplementation((path, options) => {
      return `\\\\?\\${mkdirSync(path, options)}`;
    });
    spied(spy);
    await createFileDeadLetters(directory).put(createLetter());
    expect(spy).toHaveBeenCalled();
    expect(await readdir(directory)).toHaveLength(1);
  });

  test.each(['EPERM', 'EACCES', 'EBUSY'])(
    'letters that another program has open for a moment are written, listed, read and removed after %s',
    async (code) => {
      const deadLetters = createFileDeadLetters(temporaryDirectory());
      const letter = createLetter();
      const renamed = refuse('rename', code);
      await deadLetters.put(letter);
      expect(renamed).toHaveBeenCalledTimes(4);
      const examined = refuse('lstat', code);
      expect(await readAll(deadLetters.list())).toMatchObject([{ id: letter.id }]);
      expect(examined.mock.calls.length).toBeGreaterThan(3);
      refuse('open', code);
      expect(await deadLetters.get(letter.id)).toMatchObject({ id: letter.id });
      const unlinked = refuse('unlink', code);
      expect(await deadLetters.remove(letter.id)).toBe(true);
      expect(unlinked).toHaveBeenCalledTimes(4);
    },
  );

  test('a letter that stays open is an error after a second, and leaves no other file', async () => {
    const directory = temporaryDirectory();
    const renamed = refuse('rename', 'EPERM', 1_000);
    await expect(createFileDeadLetters(directory).put(createLetter())).rejects.toMatchObject(
      errorOf('dead_letters_unavailable', 'EPERM'),
    );
    expect(renamed).toHaveBeenCalledTimes(50);
    expect(await readdir(directory)).toEqual([]);
  });

  test('an error that has another reason is not tried again', async () => {
    const renamed = refuse('rename', 'ENOSPC');
    const deadLetters = createFileDeadLetters(temporaryDirectory());
    await expect(deadLetters.put(createLetter())).rejects.toMatchObject({ code: 'dead_letters_unavailable' });
    expect(renamed).toHaveBeenCalledTimes(1);
  });

  test('a link in the place of a letter or of a state file is not followed', async () => {
    const directory = temporaryDirectory();
    const deadLetters = createFileDeadLetters(directory);
    const letter = createLetter();
    await deadLetters.put(letter);
    const [name = ''] = await readdir(directory);
    const elsewhere = join(temporaryDirectory(), 'elsewhere');
    await rename(join(directory, name), elsewhere);
    await symlink(elsewhere, join(directory, name));
    await expect(deadLetters.get(letter.id)).rejects.toMatchObject(
      errorOf('dead_letter_unreadable', 'it is a symbolic link, which is not followed'),
    );
    const opening = () => createSandbox({ state: join(directory, name) });
    expect(opening).toThrow('it is a symbolic link, which is not followed');
  });
});

test('on other systems a refusal is an error at once', async () => {
  Object.defineProperty(process, 'platform', { value: 'linux', configurable: true });
  const renamed = refuse('rename', 'EPERM');
  const deadLetters = createFileDeadLetters(temporaryDirectory());
  await expect(deadLetters.put(createLetter())).rejects.toMatchObject({ code: 'dead_letters_unavailable' });
  expect(renamed).toHaveBeenCalledTimes(1);
});
