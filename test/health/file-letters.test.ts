import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createReceiver } from 'posthorn';
import { createFileDeadLetters } from 'posthorn/file';
import { expect, onTestFinished, test } from 'vitest';
import { createLetter } from '../dead-letters/conformance.ts';
import { KEY } from '../support/served.ts';
import { until } from '../support/until.ts';

function pathOf(directory: string, id: string): string {
  return join(directory, `${createHash('sha256').update(id).digest('hex')}.json`);
}

const name =
  'health counts 1,000 of 2,500 letters in files, then fewer, and tells of one that cannot be read';

test(name, { timeout: 60_000 }, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'posthorn-health-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const deadLetters = createFileDeadLetters(directory);
  const receiver = createReceiver({ signingKey: KEY, deadLetters });
  await deadLetters.put(createLetter({ id: 'evt_template' }));
  const template = await readFile(pathOf(directory, 'evt_template'), 'utf8');
  // Written without waiting for the disk, which `put` does for each.
  const ids = Array.from({ length: 2_499 }, (_, index) => `evt_${index}`);
  await Promise.all(ids.map((id) => writeFile(pathOf(directory, id), template.replace('evt_template', id))));

  const { deadLetters: first } = await receiver.health();
  expect(first).toMatchObject({ ok: true, more: true, oldestParkedAt: expect.any(Number) });
  // A slow machine may not read them all in time.
  expect(first?.waiting).toBeGreaterThan(0);
  expect(first?.waiting).toBeLessThanOrEqual(1_000);

  await Promise.all(ids.slice(2).map((id) => rm(pathOf(directory, id))));
  const figures = async () => (await receiver.health()).deadLetters;
  await until('they are counted anew', async () => (await figures())?.waiting === 3, 30_000);
  expect(await figures()).toMatchObject({ ok: true, more: false });

  await writeFile(pathOf(directory, 'evt_0'), 'damaged');
  expect(await figures()).toMatchObject({
    ok: false,
    waiting: 2,
    more: true,
    error: { code: 'dead_letter_unreadable' },
  });
});
