import { createHash } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createReceiver, type DeadLettersHealth } from 'posthorn';
import { createFileDeadLetters } from 'posthorn/file';
import { expect, test } from 'vitest';
import { createLetter } from '../../stores/kit/conformance.ts';
import { KEY } from '../../support/served.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { until } from '../../support/until.ts';

/** A directory with letters that were written without waiting for the disk, which `put` does for each. */
async function fill(count: number) {
  const directory = temporaryDirectory();
  const pathOf = (id: string): string =>
    join(directory, `${createHash('sha256').update(id).digest('hex')}.json`);
  const deadLetters = createFileDeadLetters(directory);
  await deadLetters.put(createLetter({ id: 'evt_template' }));
  const template = await readFile(pathOf('evt_template'), 'utf8');
  const ids = Array.from({ length: count - 1 }, (_, index) => `evt_${index}`);
  await Promise.all(ids.map((id) => writeFile(pathOf(id), template.replace('evt_template', id))));
  const receiver = createReceiver({ signingKey: KEY, deadLetters });
  /** A count that took long is used again for a while, so what changes is waited for. */
  const tells = async (expected: Partial<DeadLettersHealth>): Promise<void> => {
    let last: DeadLettersHealth | undefined;
    const isTold = async (): Promise<boolean> => {
      last = (await receiver.health()).deadLetters;
      return Object.entries(expected).every(([name, value]) => Reflect.get(last ?? {}, name) === value);
    };
    await until(() => `${JSON.stringify(expected)}, and not ${JSON.stringify(last)}`, isTold);
  };
  return { pathOf, ids, receiver, tells };
}

test('health counts the letters in files at once if they are many, then fewer', async () => {
  const { pathOf, ids, receiver, tells } = await fill(1_500);
  const { deadLetters: first } = await receiver.health();
  // The oldest may be found later.
  expect(first).toMatchObject({ ok: true, waiting: 1_000, more: true });
  await tells({ oldestParkedAt: createLetter().parkedAt });
  await Promise.all(ids.slice(2).map((id) => rm(pathOf(id))));
  await tells({ ok: true, waiting: 3, more: false });
});

test('health tells of a letter in a file that cannot be read', async () => {
  const { pathOf, receiver, tells } = await fill(3);
  await tells({ ok: true, waiting: 3, more: false });
  await writeFile(pathOf('evt_0'), 'damaged');
  await tells({ ok: false, waiting: 2, more: true });
  const { deadLetters } = await receiver.health();
  expect(deadLetters).toMatchObject({ error: { code: 'dead_letter_unreadable' } });
});
