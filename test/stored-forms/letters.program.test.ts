import { join } from 'node:path';
import type { DeadLetter, DeadLetters, Store } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { jsonLines, posthorn } from '../cli/posthorn.ts';
import { usePostgres } from '../postgres/fixture.ts';
import { useRedis } from '../redis/fixture.ts';
import { packageRoot } from '../support/child-program.ts';
import { accepted, openEndpoint } from '../support/open-endpoint.ts';
import { type Recorded, recorded } from './fixtures.ts';
import { type Opened, openFiles, openPostgres, openRedis } from './restored.ts';

/** Past the time for which the handlers of a killed process may run, and so past its lease too. */
const AFTER_RUN_MS = 5 * 60_000;

/** A body that is not JSON has no id. */
const NOT_JSON = expect.stringMatching(/^[0-9a-f]{64}$/);
const LETTERS = ['evt_refused', 'evt_last', NOT_JSON, 'evt_last_running'];

type Letters = Pick<Opened, 'deadLetters' | 'place'> & { readonly store?: Store };

/** All letters but those of jobs, in the order of the list. */
async function lettersIn(deadLetters: DeadLetters, after?: string): Promise<DeadLetter[]> {
  const letters: DeadLetter[] = [];
  for await (const letter of deadLetters.list(after === undefined ? {} : { after })) letters.push(letter);
  return letters.filter(({ id }) => !id.startsWith('evt_job'));
}

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

    test('are listed, shown, replayed and dropped by the program', async () => {
      const { place, deadLetters } = await open(version, AFTER_RUN_MS);
      const { args, env } = place;
      const run = async (command: string, ...more: string[]) => {
        const ended = await posthorn(['dead-letters', command, ...more], { env });
        expect(ended).toMatchObject({ code: 0 });
        return ended;
      };
      const listed = jsonLines(await run('list', ...args, '--json')).slice(0, -1);
      expect(listed.map(({ id }) => id).filter((id) => !String(id).startsWith('evt_job'))).toEqual(LETTERS);
      expect((await run('show', 'evt_refused', ...args)).stdout).toContain('"plan":"refuse"');
      const module = join(packageRoot, 'test', 'stored-forms', 'replaying.mjs');
      const replayed = await run('replay', 'evt_refused', '--receiver', module, '--json');
      expect(replayed.stderr).toBe('book evt_refused\n');
      await run('drop', 'evt_last', ...args, '--yes');
      const left = (await lettersIn(deadLetters)).map(({ id }) => id);
      expect(left).toEqual([NOT_JSON, 'evt_last_running']);
    });
  });
}

describe('letters in files', () => {
  testLetters(recorded, async (version) => openFiles(version, AFTER_RUN_MS));
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
    const { deadLetters } = await openPostgres(fixture, version);
    expect((await lettersIn(deadLetters, 'evt_dropped')).map(({ id }) => id)).toEqual(LETTERS.slice(2));
  });
});
