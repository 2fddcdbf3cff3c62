import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { DeadLetters } from 'posthorn';
import { createFileDeadLetters } from 'posthorn/file';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';
import { type EndpointOptions, eventAt, openEndpoint } from '../support/open-endpoint.ts';
import { readAll } from '../support/read-all.ts';
import { sendTogether } from '../support/send-together.ts';
import { MINUTE_MS } from '../support/step-clock.ts';

async function createDeadLettersOnDisk(): Promise<DeadLetters> {
  const directory = await mkdtemp(join(tmpdir(), 'posthorn-backlog-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  return createFileDeadLetters(directory);
}

/**
 * An endpoint to which so many last attempts are sent at once; `data.state` says what the handler makes of
 * each.
 */
async function openBacklog(options: EndpointOptions, count: number, state = 'FAILED') {
  const endpoint = await openEndpoint(options, (receiver) =>
    receiver.on('transfer.*', ({ data }) => {
      if (data.state === 'FAILED') throw new Error('poison');
    }),
  );
  const createdAt = Date.now() - 14 * MINUTE_MS;
  const events = Array.from({ length: count }, () => ({ ...eventAt(createdAt), data: { state } }));
  return { ...endpoint, events, sendAll: () => sendTogether(endpoint.url, events) };
}

/** Nobody waits for what is written of a letter after the first time: it may come after the deadline. */
async function expectAllParked(deadLetters: DeadLetters, ids: readonly string[]): Promise<void> {
  const letters = await readAll(deadLetters.list());
  expect(letters.map(({ id }) => id).sort()).toEqual(ids.toSorted());
  const others = letters.filter(({ reason }) => !['handler_failed', 'run_abandoned'].includes(reason));
  expect(others).toEqual([]);
}

describe('last attempts that come all at once are all parked', () => {
  test('500 of them, in files', { timeout: 60_000 }, async () => {
    const deadLetters = await createDeadLettersOnDisk();
    const { events, sendAll } = await openBacklog({ deadLetters }, 500);
    const ids = events.map(({ id }) => id);
    expect(await sendAll()).toEqual(ids.map((id) => ({ outcome: 'parked', id })));
    await expectAllParked(deadLetters, ids);
  });

  test('600 of them, on a disk that takes 10 ms for each letter', { timeout: 60_000 }, async () => {
    const files = await createDeadLettersOnDisk();
    let disk: Promise<void> = Promise.resolve();
    const put: DeadLetters['put'] = async (letter) => {
      disk = disk.then(() => setTimeout(10));
      await disk;
      await files.put(letter);
    };
    const { events, sendAll } = await openBacklog({ deadLetters: { ...files, put } }, 600);
    const ids = events.map(({ id }) => id);
    expect(await sendAll()).toEqual(ids.map((id) => ({ outcome: 'parked', id })));
    await expectAllParked(files, ids);
  });

  test('though the event loop is so busy that each letter takes longer than its time limit', async () => {
    const map = createMapDeadLetters();
    const put: DeadLetters['put'] = async (letter) => {
      for (let turn = 0; turn < 8; turn += 1) {
        await setImmediate();
        const endsAt = performance.now() + 40;
        while (performance.now() < endsAt);
      }
      await map.put(letter);
    };
    // The limit is a quarter of the deadline: 250 ms.
    const options = { deadLetters: { ...map, put }, deadlineMs: 1_000 };
    const { events, sendAll } = await openBacklog(options, 1);
    const ids = events.map(({ id }) => id);
    expect(await sendAll()).toEqual(ids.map((id) => ({ outcome: 'parked', id })));
    await expectAllParked(map, ids);
  });
});

test('a letter that is given up while it waits in line is never written', async () => {
  const map = createMapDeadLetters();
  const begun = new Set<string>();
  let disk: Promise<void> = Promise.resolve();
  const put: DeadLetters['put'] = async (letter) => {
    begun.add(letter.id);
    disk = disk.then(() => setTimeout(20));
    await disk;
    await map.put(letter);
  };
  const options = { deadLetters: { ...map, put }, deadlineMs: 1_600 };
  const { events, receiver, sendAll } = await openBacklog(options, 200, 'SUCCEEDED');
  const givenUp: string[] = [];
  const removalsGivenUp = new Set<string>();
  receiver.observe(({ event, warnings }) => {
    if (event?.id === undefined) return;
    if (!begun.has(event.id)) givenUp.push(event.id);
    if (warnings.some((text) => text.startsWith('dead_letter_not_removed'))) removalsGivenUp.add(event.id);
  });
  expect(await sendAll()).toEqual(events.map(({ id }) => ({ outcome: 'processed', id })));
  await receiver.close();
  await disk;
  expect(givenUp.length).toBeGreaterThan(0);
  expect(givenUp.filter((id) => begun.has(id))).toEqual([]);
  // On a busy machine a removal may be given up as well: then its report says so.
  const left = (await readAll(map.list())).map(({ id }) => id);
  expect(left.filter((id) => !removalsGivenUp.has(id))).toEqual([]);
});
