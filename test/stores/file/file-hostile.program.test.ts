import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createReceiver } from 'posthorn';
import { createFileDeadLetters } from 'posthorn/file';
import { expect, test } from 'vitest';
import { KEY } from '../../support/served.ts';
import { skipOnWindows } from '../../support/skip-if.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { createLetter } from '../kit/conformance.ts';
import { listUntilError } from './list-until-error.ts';

function pathOf(directory: string, id: string): string {
  return join(directory, `${createHash('sha256').update(id).digest('hex')}.json`);
}

const FIFO = 'a FIFO';
const FIFO_LINK = 'a link to a FIFO';
const DEVICE_LINK = 'a link to a device';

/** What somebody who may write to the directory puts in the place of a letter. */
const traps: Record<string, (path: string, elsewhere: string) => Promise<unknown>> = {
  [FIFO]: async (path) => execFileSync('mkfifo', [path]),
  [FIFO_LINK]: async (path, elsewhere) => {
    execFileSync('mkfifo', [elsewhere]);
    await symlink(elsewhere, path);
  },
  'a link to a letter': async (path, elsewhere) => {
    await createFileDeadLetters(`${elsewhere}.d`).put(createLetter({ id: 'evt_elsewhere' }));
    await rename(pathOf(`${elsewhere}.d`, 'evt_elsewhere'), elsewhere);
    await symlink(elsewhere, path);
  },
  'a link to itself': (path) => symlink(path, path),
  [DEVICE_LINK]: (path) => symlink('/dev/zero', path),
  'a directory': (path) => mkdir(path),
  'a file that is larger than any text': async (path) => {
    await writeFile(path, '');
    // Windows keeps room for all of it, and not even a terabyte is read.
    await truncate(path, process.platform === 'win32' ? 2 ** 29 : 2 ** 40);
  },
};

test.for(Object.entries(traps))('%s in the place of letters stops nothing', async ([name, trap], context) => {
  if ([FIFO, FIFO_LINK, DEVICE_LINK].includes(name))
    skipOnWindows(context, 'Windows has neither FIFOs nor devices among its files');
  const outside = temporaryDirectory();
  const directory = join(outside, 'letters');
  const deadLetters = createFileDeadLetters(directory);
  const good = [createLetter(), createLetter()];
  for (const letter of good) await deadLetters.put({ ...letter, runningUntil: undefined });
  // More than there are threads for files.
  const bad = Array.from({ length: 8 }, (_, index) => `evt_trap_${index}`);
  for (const id of bad) await trap(pathOf(directory, id), join(outside, id));

  const gets = await Promise.allSettled(bad.map((id) => deadLetters.get(id)));
  for (const get of gets) {
    expect(get).toMatchObject({ status: 'rejected', reason: { code: 'dead_letter_unreadable' } });
  }
  const { seen, error } = await listUntilError(deadLetters.list());
  expect(seen.sort()).toEqual(good.map(({ id }) => id).sort());
  expect(error).toMatchObject({ code: 'dead_letter_unreadable' });
  // The threads still work.
  expect((await readFile(fileURLToPath(import.meta.url))).length).toBeGreaterThan(0);
  const receiver = createReceiver({ signingKey: KEY, deadLetters });
  expect((await receiver.health()).deadLetters).toMatchObject({
    ok: false,
    waiting: good.length,
    error: { code: 'dead_letter_unreadable' },
  });
  for (const id of bad) await deadLetters.put(createLetter({ id })).catch(() => {});
  await deadLetters.put(createLetter({ id: 'evt_after' }));
  expect(await deadLetters.get('evt_after')).toMatchObject({ id: 'evt_after' });
});

test('a link in the place of a letter gives way to the letter, and what it led to stays', async () => {
  const outside = temporaryDirectory();
  const directory = join(outside, 'letters');
  const deadLetters = createFileDeadLetters(directory);
  const victim = join(outside, 'victim');
  await writeFile(victim, '');
  await symlink(victim, pathOf(directory, 'evt_1'));
  await deadLetters.put(createLetter({ id: 'evt_1' }));
  expect(await deadLetters.get('evt_1')).toMatchObject({ id: 'evt_1' });
  expect(await readFile(victim, 'utf8')).toBe('');
});
