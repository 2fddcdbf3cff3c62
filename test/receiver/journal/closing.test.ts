import { createReceiver } from 'posthorn';
import { toFetch } from 'posthorn/fetch';
import { createEvent, signedHeaders } from 'posthorn/testing';
import { expect, test } from 'vitest';
import { fakeTime, passUntil } from '../../support/fake-time.ts';
import { shutGate } from '../../support/gate.ts';
import { HeldHandler } from '../../support/held-handler.ts';
import { on } from '../../support/open-endpoint.ts';
import { KEY } from '../../support/served.ts';
import { createSeenJournal, openJournaledDirectly } from './journaled.ts';

const event = createEvent('transfer.succeeded');

async function timed(promise: Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await promise;
  return performance.now() - startedAt;
}

test('close writes what waits, however many batches that takes', async () => {
  const gate = shutGate();
  const { batches, journal, records } = createSeenJournal(gate.pass);
  const { receiver, send } = openJournaledDirectly({ journal });
  const events = Array.from({ length: 150 }, () => createEvent('transfer.succeeded'));
  for (const event of events) await send(event);
  const closed = receiver.close();
  await gate.held.nth(1);
  gate.open();
  await closed;
  expect(batches.all.length).toBeGreaterThan(1);
  expect(new Set(records.keys())).toEqual(new Set(events.map(({ id }) => id)));
});

test('a second close waits for the same writes', async () => {
  const gate = shutGate();
  const { journal, records } = createSeenJournal(gate.pass);
  const { receiver, send } = openJournaledDirectly({ journal });
  await send(event);
  const first = receiver.close();
  const writtenAtSecond = receiver.close({ graceMs: 0 }).then(() => records.size);
  await gate.held.nth(1);
  expect(records.size).toBe(0);
  gate.open();
  expect(await writtenAtSecond).toBe(1);
  await first;
});

test('close writes at once what waits, while handlers take the grace, and then what became of them', async () => {
  const held = new HeldHandler();
  const { batches, receiver, records, send } = openJournaledDirectly({}, (opened) =>
    opened.on('transfer.created', () => {}).on('transfer.succeeded', held.handle),
  );
  const pass = fakeTime();
  const other = createEvent('transfer.created');
  await send(other);
  const running = send(event);
  await held.calls.nth(1);
  // Less than the writer waits for further records.
  const closed = receiver.close({ graceMs: 300 });
  await pass(20);
  expect(batches.all).toMatchObject([{ records: [{ id: other.id }] }]);
  expect(await passUntil(pass, closed)).toEqual({ abandoned: [event.id] });
  await running;
  expect(records.get(event.id)).toMatchObject({ outcome: 'failed', code: 'run_closed', attempts: 1 });
});

test.each([
  { graceMs: 3_000, endsAfterMs: 3_000 },
  { graceMs: 25_000, endsAfterMs: 5_000 },
])('close with a grace of $graceMs ms ends after $endsAfterMs ms if the journal hangs', async (given) => {
  const { graceMs, endsAfterMs } = given;
  const gate = shutGate();
  const { journal } = createSeenJournal(gate.pass);
  const { receiver, send } = openJournaledDirectly({ journal });
  const pass = fakeTime();
  await send(event);
  const tookMs = await passUntil(pass, timed(receiver.close({ graceMs })));
  expect(tookMs).toBeGreaterThanOrEqual(endsAfterMs - 20);
  expect(tookMs).toBeLessThan(endsAfterMs + 200);
  gate.open();
  await pass(20);
});

test('close ends a second after a grace that the handlers have taken, if the journal hangs', async () => {
  const gate = shutGate();
  const { journal } = createSeenJournal(gate.pass);
  const held = new HeldHandler();
  const { receiver, send } = openJournaledDirectly({ journal }, on('*', held.handle));
  const pass = fakeTime();
  const running = send(event);
  await held.calls.nth(1);
  const tookMs = await passUntil(pass, timed(receiver.close({ graceMs: 2_000 })));
  expect(tookMs).toBeGreaterThanOrEqual(2_980);
  expect(tookMs).toBeLessThan(3_400);
  gate.open();
  await running;
  await pass(20);
});

test('what is refused while the receiver closes is written after it', async () => {
  const { receiver, records, send } = openJournaledDirectly();
  await receiver.close();
  const pass = fakeTime();
  await send(event);
  await pass(500);
  expect(records.get(event.id)).toMatchObject({ outcome: 'failed', code: 'closing', deliveries: 1 });
});

test('a platform that stops the process after the answer is asked to wait for the journal', async () => {
  const { journal, records } = createSeenJournal();
  const receiver = createReceiver({ signingKey: KEY, journal })
    .on('*', () => {})
    .observe(() => {});
  const kept: Promise<unknown>[] = [];
  const handle = toFetch(receiver, { waitUntil: (promise) => void kept.push(promise) });
  const body = JSON.stringify(event);
  const request = new Request('http://localhost/', {
    method: 'POST',
    body,
    headers: signedHeaders(body, { key: KEY }),
  });
  expect((await handle(request)).status).toBe(200);
  expect(records.size).toBe(0);
  await Promise.all(kept);
  expect(records.get(event.id)).toMatchObject({ outcome: 'processed' });
});

test('and it is asked for five seconds at most if the journal hangs', async () => {
  const gate = shutGate();
  const { journal } = createSeenJournal(gate.pass);
  const { receiver } = openJournaledDirectly({ journal });
  const kept: Promise<unknown>[] = [];
  const body = JSON.stringify(event);
  const headers = Object.fromEntries(
    Object.entries(signedHeaders(body, { key: KEY })).map(([name, value]) => [name, [value]]),
  );
  const pass = fakeTime();
  await receiver.receive({
    method: 'POST',
    headers,
    readBody: async () => body,
    waitUntil: (promise) => void kept.push(promise),
  });
  const tookMs = await passUntil(pass, timed(Promise.all(kept)));
  expect(tookMs).toBeGreaterThanOrEqual(4_980);
  expect(tookMs).toBeLessThan(5_200);
  gate.open();
  await pass(20);
});
