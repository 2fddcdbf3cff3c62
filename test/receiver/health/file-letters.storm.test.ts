import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createReceiver } from 'posthorn';
import { createFileDeadLetters } from 'posthorn/file';
import { expect, test } from 'vitest';
import { createLetter } from '../../stores/kit/conformance.ts';
import { KEY } from '../../support/served.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { until } from '../../support/until.ts';

test('with 100,000 letters in files the first health tells of them', async () => {
  const directory = temporaryDirectory();
  const deadLetters = createFileDeadLetters(directory);
  await deadLetters.put(createLetter({ id: 'evt_oldest' }));
  const [name = ''] = readdirSync(directory);
  const text = readFileSync(join(directory, name), 'utf8');
  for (let index = 1; index < 100_000; index += 1) {
    const id = `evt_${index}`;
    const path = join(directory, `${createHash('sha256').update(id).digest('hex')}.json`);
    writeFileSync(path, text.replace('evt_oldest', id));
  }
  const receiver = createReceiver({ signingKey: KEY, deadLetters });
  const { deadLetters: first } = await receiver.health();
  expect(first).toMatchObject({ ok: true, waiting: 1_000, more: true, error: undefined });
  const oldestOf = async () => (await receiver.health()).deadLetters?.oldestParkedAt;
  const { parkedAt } = createLetter();
  await until('the oldest is found', async () => (await oldestOf()) === parkedAt, 120_000);
  expect((await receiver.health()).deadLetters).toMatchObject({ ok: true, waiting: 1_000, more: true });
});
