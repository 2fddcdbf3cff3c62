import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { chmod, copyFile, readdir, readFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConfigurationError, DeadLetterError } from 'posthorn';
import { createFileDeadLetters } from 'posthorn/file';
import { describe, expect, test, vi } from 'vitest';
import { packageRoot, startProgram } from '../../support/child-program.ts';
import { readAll } from '../../support/read-all.ts';
import { skipOnWindows, skipWithoutModes } from '../../support/skip-if.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { createLetter, deadLettersConformance } from '../kit/conformance.ts';
import { listUntilError } from './list-until-error.ts';

function fileNameOf(id: string): string {
  return `${createHash('sha256').update(id).digest('hex')}.json`;
}

describe('file dead letters', () => {
  for (const { name, check } of deadLettersConformance) {
    test(name, async () => {
      const directory = temporaryDirectory();
      await check(createFileDeadLetters(directory));
      const strays = (await readdir(directory)).filter((file) => !/^[0-9a-f]{64}\.json$/.test(file));
      expect(strays).toEqual([]);
    });
  }

  test('are one file per event, named by the SHA-256 of its id', async () => {
    const directory = temporaryDirectory();
    const deadLetters = createFileDeadLetters(directory);
    const letter = createLetter({ id: 'evt_é/../1' });
    await deadLetters.put(letter);
    await deadLetters.put({ ...letter, attempts: 5 });
    expect(await readdir(directory)).toEqual([fileNameOf('evt_é/../1')]);
    await deadLetters.remove(letter.id);
    expect(await readdir(directory)).toEqual([]);
  });

  test('are for their owner only, whatever the umask', async (context) => {
    skipWithoutModes(context);
    const directory = join(temporaryDirectory(), 'made', 'on demand');
    const umask = process.umask(0);
    try {
      const deadLetters = createFileDeadLetters(directory);
      const letter = createLetter();
      await deadLetters.put(letter);
      expect((await stat(join(directory, '..'))).mode & 0o777).toBe(0o700);
      expect((await stat(directory)).mode & 0o777).toBe(0o700);
      expect((await stat(join(directory, fileNameOf(letter.id)))).mode & 0o777).toBe(0o600);
    } finally {
      process.umask(umask);
    }
  });

  test('outlive the object that wrote them', async () => {
    const directory = temporaryDirectory();
    const letter = createLetter();
    await createFileDeadLetters(directory).put(letter);
    expect(await createFileDeadLetters(directory).get(letter.id)).toMatchObject({ message: letter.message });
  });

  test('are whole though several processes write and read the same one', async () => {
    const directory = temporaryDirectory();
    const program = fileURLToPath(new URL('writer-program.mjs', import.meta.url));
    const writers = [0, 1, 2, 3].map((number) =>
      startProgram(program, { DIRECTORY: directory, WRITER: String(number) }, packageRoot),
    );
    const ends = await Promise.all(writers.map(async ({ exit, lines }) => ({ code: await exit, lines })));
    expect(ends).toEqual(writers.map(() => ({ code: 0, lines: [] })));
    expect(await readdir(directory)).toEqual([fileNameOf('evt_shared')]);
  });

  test('that wait for their rename in a process that died are no letters', async () => {
    const directory = temporaryDirectory();
    const deadLetters = createFileDeadLetters(directory);
    const letter = createLetter();
    await deadLetters.put(letter);
    await writeFile(join(directory, `.${fileNameOf('evt_cut')}.0b1d.tmp`), '{"id":"evt_c');
    expect((await readAll(deadLetters.list())).map(({ id }) => id)).toEqual([letter.id]);
  });

  test('clear away what processes that died over an hour ago have left, and nothing else', async () => {
    const directory = temporaryDirectory();
    const letter = createLetter();
    await createFileDeadLetters(directory).put(letter);
    const leftover = (id: string) => `.${fileNameOf(id)}.0b1d.tmp`;
    const kept = [fileNameOf(letter.id), '.of-somebody-else.tmp'];
    for (const name of [leftover('evt_cut'), ...kept]) {
      const path = join(directory, name);
      await writeFile(path, '{"id":"evt_c', { flag: 'a' });
      // A process may have died after it had set the time of an old letter.
      await utimes(path, 0, 0);
    }
    const afterMinutes = async (minutes: number): Promise<string[]> => {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + minutes * 60_000 });
      createFileDeadLetters(directory);
      vi.useRealTimers();
      return (await readdir(directory)).sort();
    };
    expect(await afterMinutes(59)).toEqual([leftover('evt_cut'), ...kept].sort());
    expect(await afterMinutes(61)).toEqual(kept.sort());
  });

  test('are cleared of leftovers by processes that start at once, and none of them fails', async () => {
    const directory = temporaryDirectory();
    for (let count = 0; count < 3_000; count += 1) {
      const path = join(directory, `.${fileNameOf(String(count))}.0b1d.tmp`);
      writeFileSync(path, '');
    }
    const program = fileURLToPath(new URL('cleaning-program.mjs', import.meta.url));
    const signal = join(temporaryDirectory(), 'signal');
    const cleaners = [0, 1].map(() =>
      startProgram(program, { DIRECTORY: directory, SIGNAL: signal }, packageRoot),
    );
    await Promise.all(cleaners.map(({ line }) => line(/^ready$/)));
    await writeFile(signal, '');
    const ends = await Promise.all(cleaners.map(async ({ exit, lines }) => ({ code: await exit, lines })));
    expect(ends).toEqual(cleaners.map(() => ({ code: 0, lines: ['ready'] })));
    expect(await readdir(directory)).toEqual([]);
  });

  test('make their directory again if it was removed, for their own user alone', async (context) => {
    const directory = join(temporaryDirectory(), 'letters');
    const deadLetters = createFileDeadLetters(directory);
    await rm(directory, { recursive: true });
    const letter = createLetter();
    await deadLetters.put(letter);
    expect((await deadLetters.get(letter.id))?.id).toBe(letter.id);
    skipOnWindows(context, 'Windows has no modes');
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
  });

  test('need a directory that can be written to', async () => {
    const directory = temporaryDirectory();
    await writeFile(join(directory, 'file'), '');
    expect(() => createFileDeadLetters('')).toThrow(ConfigurationError);
    expect(() => createFileDeadLetters(join(directory, 'file'))).toThrow(ConfigurationError);
    expect(() => createFileDeadLetters(join(directory, 'file', 'below'))).toThrow(ConfigurationError);
  });
});

describe('a directory that can no longer be read', () => {
  test('because a file has taken its place is told by its path', async (context) => {
    skipOnWindows(context, 'Windows says of a path below a file that there is none');
    const directory = join(temporaryDirectory(), 'letters');
    const deadLetters = createFileDeadLetters(directory);
    const letter = createLetter();
    await deadLetters.put(letter);
    await rm(directory, { recursive: true });
    await writeFile(directory, '');
    const message = expect.stringMatching(new RegExp(`${directory}.*: ENOTDIR`));
    const error = { name: 'DeadLetterError', code: 'dead_letters_unavailable', message };
    await expect(readAll(deadLetters.list())).rejects.toMatchObject(error);
    await expect(deadLetters.get(letter.id)).rejects.toMatchObject(error);
    await expect(deadLetters.put(letter)).rejects.toMatchObject(error);
    await expect(deadLetters.remove(letter.id)).rejects.toMatchObject(error);
  });

  test.for([0o000, 0o400])('because of its mode %i is told by its path', async (mode, context) => {
    skipWithoutModes(context);
    const directory = temporaryDirectory();
    const program = fileURLToPath(new URL('unreadable-program.mjs', import.meta.url));
    // No mode binds root, so the program gives that right up.
    await chmod(directory, 0o777);
    const listing = startProgram(program, { DIRECTORY: directory, MODE: String(mode) }, packageRoot);
    expect(await listing.exit, listing.lines.join('\n')).toBe(0);
    expect(listing.lines).toEqual([
      expect.stringMatching(
        new RegExp(`^dead_letters_unavailable: cannot list the dead letters in ${directory}/.*: EACCES`),
      ),
    ]);
  });
});

describe('a damaged file', () => {
  const damages: Record<string, (path: string) => Promise<void>> = {
    'cut short': (path) => truncate(path, 40),
    empty: (path) => truncate(path, 0),
    'of another form': (path) => writeFile(path, '{"id":"evt_1"}'),
    'no text': (path) => writeFile(path, Buffer.from([0xff, 0x00, 0xfe])),
  };

  /** Five letters, of which the first in the order of the list is damaged. */
  async function damagedFirst(damage: (path: string) => Promise<void>) {
    const directory = temporaryDirectory();
    const deadLetters = createFileDeadLetters(directory);
    for (let count = 0; count < 5; count += 1) await deadLetters.put(createLetter());
    const [bad, ...good] = await readAll(deadLetters.list());
    if (bad === undefined) throw new Error('no letter');
    const path = join(directory, fileNameOf(bad.id));
    const { atime, mtime } = await stat(path);
    await damage(path);
    await utimes(path, atime, mtime); // as a failing disk would leave it
    return { deadLetters, path, id: bad.id, good: good.map(({ id }) => id) };
  }

  test.each(Object.entries(damages))('%s is told by name, and hides no other', async (_name, damage) => {
    const { deadLetters, path, id, good } = await damagedFirst(damage);
    const { seen, error } = await listUntilError(deadLetters.list());
    expect(seen).toEqual(good);
    expect(error).toBeInstanceOf(DeadLetterError);
    expect(error).toMatchObject({ code: 'dead_letter_unreadable', message: expect.stringContaining(path) });
    await expect(deadLetters.get(id)).rejects.toMatchObject({ code: 'dead_letter_unreadable' });
  });

  test('is told by the page that passes over it', async () => {
    const { deadLetters, good } = await damagedFirst((path) => truncate(path, 40));
    const { seen, error } = await listUntilError(deadLetters.list({ limit: 2 }));
    expect(seen).toEqual(good.slice(0, 2));
    expect(error).toMatchObject({ code: 'dead_letter_unreadable' });
    const next = await listUntilError(deadLetters.list({ after: good[1], limit: 2 }));
    expect(next).toEqual({ seen: good.slice(2, 4), error: undefined });
  });

  test('can be removed, and written anew', async () => {
    const { deadLetters, path, id, good } = await damagedFirst((file) => truncate(file, 40));
    await copyFile(path, `${path}.kept`);
    await deadLetters.put(createLetter({ id }));
    expect((await readAll(deadLetters.list())).map((letter) => letter.id)).toEqual([id, ...good]);
    await copyFile(`${path}.kept`, path);
    expect(await deadLetters.remove(id)).toBe(true);
    expect((await readAll(deadLetters.list())).map((letter) => letter.id)).toEqual(good);
    expect(await readFile(`${path}.kept`, 'utf8')).toHaveLength(40);
  });
});
