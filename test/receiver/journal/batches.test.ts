import type { JournalBatch } from 'posthorn';
import { toNode } from 'posthorn/node';
import { createEvent, deliver } from 'posthorn/testing';
import { expect, test } from 'vitest';
import { fakeTime, passUntil } from '../../support/fake-time.ts';
import { shutGate } from '../../support/gate.ts';
import { listenUntilTheEnd } from '../../support/listen.ts';
import { accepted } from '../../support/open-endpoint.ts';
import { KEY } from '../../support/served.ts';
import { throwing } from '../../support/throwing.ts';
import { unanswered } from '../../support/unanswered.ts';
import { createSeenJournal, openJournaledDirectly } from './journaled.ts';

const event = createEvent('transfer.succeeded');

function createEvents(count: number) {
  return Array.from({ length: count }, () => createEvent('transfer.succeeded'));
}

test('an entry is written half a second after its answer, with what came meanwhile', async () => {
  const { batches, send } = openJournaledDirectly();
  const pass = fakeTime();
  await send(event);
  await pass(400);
  const other = createEvent('transfer.created');
  await send(other);
  await send(event);
  expect(batches.all).toEqual([]);
  await pass(100);
  expect(batches.all).toMatchObject([
    {
      batchId: expect.stringMatching(/^[\da-f-]{36}$/),
      records: [{ id: other.id }, { id: event.id, deliveries: 2 }],
    },
  ]);
  await pass(5_000);
  expect(batches.all).toHaveLength(1);
});

test('a later entry is written half a second after its own answer, as a batch of its own', async () => {
  const { batches, send } = openJournaledDirectly();
  const pass = fakeTime();
  await send(event);
  await pass(500);
  await send(event);
  await pass(480);
  expect(batches.all).toHaveLength(1);
  await pass(20);
  expect(batches.all).toHaveLength(2);
  expect(batches.all[0]?.batchId).not.toBe(batches.all[1]?.batchId);
});

test('from a hundred entries on they are written at once, at most a hundred in a batch', async () => {
  const gate = shutGate();
  const { batches, journal } = createSeenJournal(gate.pass);
  const { send } = openJournaledDirectly({ journal });
  const pass = fakeTime();
  const events = createEvents(250);
  for (const given of events.slice(0, 99)) await send(given);
  await pass(20);
  expect(gate.held.all).toHaveLength(0);
  for (const given of events.slice(99)) await send(given);
  await pass(20);
  expect(gate.held.all).toHaveLength(1);
  gate.open();
  await pass(20);
  expect(batches.all.map(({ records }) => records.length)).toEqual([100, 100]);
  await pass(500);
  expect(batches.all.map(({ records }) => records.length)).toEqual([100, 100, 50]);
  const written = batches.all.flatMap(({ records }) => records.map(({ id }) => id));
  expect(written).toEqual(events.map(({ id }) => id));
});

test('a second delivery during the write of the first has a record of its own', async () => {
  const gate = shutGate();
  const { batches, journal, records } = createSeenJournal(gate.pass);
  const { send } = openJournaledDirectly({ journal });
  const pass = fakeTime();
  await send(event);
  await pass(500);
  await send(event);
  gate.open();
  await pass(500);
  expect(batches.all.map((batch) => batch.records.map(({ deliveries }) => deliveries))).toEqual([[1], [1]]);
  expect(records.get(event.id)).toMatchObject({ deliveries: 2, outcome: 'processed' });
});

test('the answer is sent before a journal that blocks the process begins', async () => {
  const order: string[] = [];
  const { journal } = createSeenJournal(() => {
    order.push('record');
    const endsAt = performance.now() + 50;
    while (performance.now() < endsAt);
  });
  const { receiver } = openJournaledDirectly({ journal });
  const handle = toNode(receiver);
  const url = await listenUntilTheEnd((request, response) => {
    response.once('finish', () => order.push('answer'));
    handle(request, response);
  });
  expect((await deliver(url, event, { key: KEY })).status).toBe(200);
  await receiver.close();
  expect(order).toEqual(['answer', 'record']);
});

test('no write begins in the turn of an answer, also if it is due at once', async () => {
  const order: string[] = [];
  const { journal } = createSeenJournal(() => void order.push('record'));
  const { send } = openJournaledDirectly({ journal });
  const pass = fakeTime();
  await Promise.all(createEvents(100).map((given) => send(given).then(() => order.push('answer'))));
  await pass(20);
  expect(order).toEqual([...Array(100).fill('answer'), 'record']);
});

test.each([
  ['never answers', unanswered],
  ['rejects', () => Promise.reject(new Error('no database'))],
  ['throws', throwing('no database')],
  ['answers with nonsense', () => 42],
])('a journal that %s changes no answer', async (_title, record) => {
  const { journal } = createSeenJournal();
  const state = { fails: true };
  const recordOrFail = (batch: JournalBatch) => (state.fails ? record() : journal.record(batch));
  const { receiver, send } = openJournaledDirectly({
    journal: Object.assign({ ...journal }, { record: recordOrFail }),
  });
  const pass = fakeTime();
  for (const given of createEvents(3)) {
    expect(await send(given)).toEqual(accepted('processed', given.id));
    await pass(1_000);
  }
  state.fails = false;
  await passUntil(pass, receiver.close());
});

test('what a journal answers does not count, so nonsense is a success', async () => {
  const { journal } = createSeenJournal();
  const { receiver, send } = openJournaledDirectly({
    journal: Object.assign({ ...journal }, { record: () => 42 }),
  });
  const pass = fakeTime();
  await send(event);
  await pass(500);
  expect((await receiver.health()).journal).toEqual({
    ok: true,
    waiting: 0,
    leftOut: { bodies: 0, entries: 0 },
  });
});

test('a journal without bodies gets neither bodies nor headers', async () => {
  const seen = createSeenJournal();
  const without = openJournaledDirectly({ journal: { ...seen.journal, bodies: false } });
  await without.send(event);
  await without.receiver.close();
  expect(seen.records.get(event.id)).toMatchObject({
    outcome: 'processed',
    rawBody: undefined,
    headers: undefined,
  });
});
