import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createReceiver, type DeadLetter } from 'posthorn';
import { createFileDeadLetters } from 'posthorn/file';
import { describe, expect, test } from 'vitest';
import { parseLetter, serializeLetter } from '../../../src/stores/kit/serialized-letter.ts';
import { errorOf } from '../../support/error-of.ts';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import { readAll } from '../../support/read-all.ts';
import { KEY } from '../../support/served.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { createLetter } from './conformance.ts';

const SEALED = 'it is sealed, and this version of posthorn cannot open it';
const NEWER = 'its version is 2, and this version of posthorn reads 1 at most';

/** Forms that a later version may store. The first one has other members than today's. */
const laterForms: readonly (readonly [string, object, string])[] = [
  ['sealed', { version: 2, sealed: 'AAAA', rawBody: undefined, headers: undefined }, SEALED],
  ['of a newer version', { version: 2 }, NEWER],
];

test('a letter of the default provider has the members of versions that knew no other', () => {
  const letter = { ...createLetter({ id: 'evt_1' }), eventId: undefined, provider: undefined };
  const members = Object.keys(JSON.parse(serializeLetter(letter)));
  expect(members).toEqual([
    ...['id', 'type', 'reason', 'message', 'headers', 'receivedAt', 'parkedAt', 'lastTriedAt', 'attempts'],
    ...['handled', 'runningUntil', 'rawBody'],
  ]);
});

test('version 1 is read, as if it were not there', () => {
  const text = serializeLetter(createLetter());
  const read = parseLetter(JSON.stringify({ version: 1, ...JSON.parse(text) }));
  expect(read).toEqual(parseLetter(text));
});

describe.each(laterForms)('a letter that is %s', (_, form, reason) => {
  const text = JSON.stringify({ ...JSON.parse(serializeLetter(createLetter({ id: 'evt_1' }))), ...form });

  test('in a file is refused by name, and does not hide the others', async () => {
    const directory = temporaryDirectory();
    const deadLetters = createFileDeadLetters(directory);
    await deadLetters.put(createLetter({ id: 'evt_2', parkedAt: 2 }));
    await deadLetters.put(createLetter({ id: 'evt_1', parkedAt: 1 }));
    writeFileSync(join(directory, `${createHash('sha256').update('evt_1').digest('hex')}.json`), text);
    const refusal = errorOf('dead_letter_unreadable', `update posthorn: ${reason}`);
    await expect(deadLetters.get('evt_1')).rejects.toMatchObject(refusal);
    const listed: string[] = [];
    const list = async (): Promise<void> => {
      for await (const { id } of deadLetters.list()) listed.push(id);
    };
    await expect(list()).rejects.toMatchObject(refusal);
    expect(listed).toEqual(['evt_2']);
  });

  test('is refused when it is stored again', () => {
    const given: DeadLetter = { ...createLetter(), ...form };
    expect(() => serializeLetter(given)).toThrow(
      expect.objectContaining(errorOf('dead_letter_invalid', reason)),
    );
  });

  test('is neither replayed nor dropped', async () => {
    const letter: DeadLetter = { ...createLetter({ id: 'evt_1' }), ...form };
    const deadLetters = createMapDeadLetters(new Map([['evt_1', letter]]));
    const receiver = createReceiver({ signingKey: KEY, deadLetters }).on('*', () => expect.unreachable());
    receiver.observe(() => {});
    const refusal = errorOf('configuration_invalid', `cannot read the dead letter "evt_1": ${reason}`);
    expect(await receiver.replay(letter)).toMatchObject({ outcome: 'failed', error: refusal });
    await expect(receiver.drop(letter)).rejects.toMatchObject(refusal);
    expect(await readAll(deadLetters.list())).toEqual([letter]);
  });
});
