import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { usePostgres } from '../stores/postgres/fixture.ts';
import { useRedis } from '../stores/redis/fixture.ts';
import { accepted, openEndpoint } from '../support/open-endpoint.ts';
import { type Recorded, recorded } from './fixtures.ts';
import { AFTER_RUN_MS, LETTERS, type Letters, lettersIn, NOT_JSON, treatByProgram } from './letters.ts';
import { openFiles, openPostgres, openRedis } from './restored.ts';

async function openReceiver({ store, deadLetters }: Letters) {
  const ran: string[] = [];
  const { send, receiver } = await openEndpoint({ deadLetters, ...(store && { store }) }, (created) => {
    for (const name of ['log', 'book']) created.on('transfer.*', () => ran.push(name), { name });
  });
  return { ran, send, receiver };
}

/** What today's code makes of the letters that a version has left behind. */
function testLetters(
  versions: readonly Recorded[],
  open: (version: Recorded, elapsedMs: number) => Promise<Letters>,
): void {
  describe.each(versions)('that version $version has stored', (version) => {
    test('are listed in their order, and replayed', async () => {
      const opened = await open(version, AFTER_RUN_MS);
      const { deadLetters } = opened;
      const letters = await lettersIn(deadLetters);
      expect(letters.map(({ id }) => id)).toEqual(LETTERS);
      const { ran, receiver, send } = await openReceiver(opened);
      for (const { id, type, handled } of letters) {
        ran.length = 0;
        const letter = await deadLetters.get(id);
        if (letter === undefined || type === undefined) continue;
        expect(await receiver.replay(letter)).toMatchObject({ outcome: 'processed' });
        expect(ran).toEqual(handled.includes('log') ? ['book'] : ['log', 'book']);
        const event = { ...createEvent('transfer.updated'), id };
        expect(await send(event)).toEqual(accepted('duplicate', id));
      }
      expect((await lettersIn(deadLetters)).map(({ id }) => id)).toEqual([NOT_JSON]);
    });

    test('are dropped, and their events do not come again', async () => {
      const opened = await open(version, AFTER_RUN_MS);
      const { ran, receiver, send } = await openReceiver(opened);
      for (const letter of await lettersIn(opened.deadLetters))
        expect(await receiver.drop(letter)).toBe(true);
      expect(await lettersIn(opened.deadLetters)).toEqual([]);
      const event = { ...createEvent('transfer.updated'), id: 'evt_last' };
      expect(await send(event)).toEqual(accepted('duplicate', 'evt_last'));
      expect(ran).toEqual([]);
    });
  });
}

describe('letters in files', () => {
  testLetters(recorded, async (version) => openFiles(version, AFTER_RUN_MS));

  // test/stored-forms/letters.storm.test.ts has the other versions and places.
  test.each(recorded.slice(0, 1))(
    'that version $version has stored are listed, shown, replayed and dropped by the program',
    async (version) => treatByProgram(openFiles(version, AFTER_RUN_MS)),
  );
});

describe('letters in Redis', () => {
  const fixture = useRedis();
  testLetters(recorded, (version, elapsedMs) => openRedis(fixture, version, elapsedMs));

  test.each(recorded)('a list goes on after a letter that version $version has removed', async (version) => {
    const { deadLetters } = await openRedis(fixture, version);
    expect((await lettersIn(deadLetters, 'evt_dropped')).map(({ id }) => id)).toEqual(LETTERS.slice(2));
  });
});

describe('letters in PostgreSQL', () => {
  const fixture = usePostgres();
  const versions = recorded.filter(({ hasPostgres }) => hasPostgres);
  testLetters(versions, (version, elapsedMs) => openPostgres(fixture, version, elapsedMs));

  test.each(versions)('a list goes on after a letter that version $version has removed', async (version) => {
    const { deadLetters } = await openPostgres(fixture, version, AFTER_RUN_MS);
    expect((await lettersIn(deadLetters, 'evt_dropped')).map(({ id }) => id)).toEqual(LETTERS.slice(2));
  });
});
