import { createEvent } from 'posthorn/testing';
import { expect, test } from 'vitest';
import { fakeTime, passUntil } from '../../support/fake-time.ts';
import { createSeenJournal, openJournaledDirectly } from './journaled.ts';

let bodies = 0;

/**
 * A body of 4 MB, of which four fit. It is refused unread, which is quick, and leaves an entry all the same.
 */
function large(): Uint8Array<ArrayBuffer> {
  bodies += 1;
  return Buffer.alloc(4_000_000, `not JSON ${bodies}`);
}

/** An event of which even the entry takes 4 MB: a character of its id takes two bytes. */
function longNamed() {
  return { ...createEvent('transfer.succeeded'), id: `evt_${crypto.randomUUID()}${'x'.repeat(1_950_000)}` };
}

/** A receiver whose journal fails until it is told otherwise. */
function openFailing() {
  const state = { fails: true };
  const seen = createSeenJournal(() => {
    if (state.fails) throw new Error('no database');
  });
  const opened = openJournaledDirectly({ journal: seen.journal, maxBodyBytes: 8_000_000 });
  const pass = fakeTime();
  const leftOut = async () => (await opened.receiver.health()).journal?.leftOut;
  const waiting = async () => (await opened.receiver.health()).journal?.waiting;
  const recover = async () => {
    state.fails = false;
    await passUntil(pass, opened.receiver.close());
    return [...seen.records.values()];
  };
  const warnings = () =>
    opened.reports.all.flatMap(({ warnings: all }) =>
      all.filter((warning) => warning.startsWith('journal_')),
    );
  return { ...opened, leftOut, pass, recover, state, waiting, warnings };
}

test('bodies are left out once 16 MiB wait, and are counted; the entries are written', async () => {
  const { leftOut, recover, send, waiting } = openFailing();
  for (let count = 0; count < 4; count += 1) await send(large());
  expect(await leftOut()).toEqual({ bodies: 0, entries: 0 });
  for (let count = 0; count < 2; count += 1) await send(large());
  expect(await leftOut()).toEqual({ bodies: 2, entries: 0 });
  expect(await waiting()).toBe(6);
  const entries = await recover();
  const [kept, cut] = [Array(4).fill(true), Array(2).fill(false)];
  expect(entries.map(({ rawBody }) => rawBody !== undefined)).toEqual([...kept, ...cut]);
  expect(entries.map(({ headers }) => headers !== undefined)).toEqual([...kept, ...cut]);
});

test('an entry is worth more than the bodies of others, and is left out only if there are none', async () => {
  const { leftOut, recover, send, waiting } = openFailing();
  for (let count = 0; count < 3; count += 1) await send(large());
  for (let count = 0; count < 4; count += 1) await send(longNamed());
  expect(await leftOut()).toEqual({ bodies: 7, entries: 0 });
  const last = longNamed();
  for (let count = 0; count < 2; count += 1) await send(last);
  expect(await leftOut()).toMatchObject({ entries: 2 });
  expect(await waiting()).toBe(7);
  const entries = await recover();
  expect(entries).toHaveLength(7);
  expect(entries.every(({ rawBody }) => rawBody === undefined)).toBe(true);
});

test('the memory of a batch that is being written counts, and is free once it is written', async () => {
  const { leftOut, pass, recover, send, state } = openFailing();
  for (let count = 0; count < 4; count += 1) await send(large());
  await pass(500);
  await send(large());
  expect(await leftOut()).toEqual({ bodies: 1, entries: 0 });
  state.fails = false;
  await pass(2_000);
  for (let count = 0; count < 4; count += 1) await send(large());
  expect(await leftOut()).toEqual({ bodies: 1, entries: 0 });
  await recover();
});

test('an event that comes again while it waits does not take its memory twice', async () => {
  const { leftOut, recover, send } = openFailing();
  const body = large();
  for (let count = 0; count < 6; count += 1) await send(body);
  expect(await leftOut()).toEqual({ bodies: 0, entries: 0 });
  expect(await recover()).toMatchObject([{ deliveries: 6, rawBody: expect.any(Uint8Array) }]);
});

test('what was left out is warned of with its numbers, once a minute', async () => {
  const { pass, recover, send, warnings } = openFailing();
  const because = 'because 16 MiB wait for the journal';
  for (let count = 0; count < 6; count += 1) await send(large());
  expect(warnings()).toEqual([`journal_incomplete: bodies left out: 1, entries left out: 0, ${because}`]);
  await pass(60_000);
  await send(large());
  expect(warnings().slice(1)).toEqual([
    expect.stringMatching(/^journal_failed: /),
    `journal_incomplete: bodies left out: 2, entries left out: 0, ${because}`,
  ]);
  await recover();
});
