import { describe, expect, test } from 'vitest';
import { silenced } from '../support/silenced.ts';
import { createUnobserved } from '../support/unobserved-receiver.ts';
import { fetchOperator } from './mounts.ts';
import { createOperated, idOf, letters, NOW, record } from './operated.ts';
import { deliver } from './sent.ts';

const DELIVERIES = '/api/deliveries';
const idsIn = async (ask: ReturnType<typeof fetchOperator>) =>
  (await ask(DELIVERIES)).body.deliveries?.map(({ event }) => event?.id);
const stranger = { 'x-service-signature': ['0'.repeat(64)] };

test('the last deliveries are listed, the latest first', async () => {
  const clock = { now: NOW };
  const { receiver } = createOperated({ now: () => clock.now });
  const ask = fetchOperator(receiver);
  expect((await ask(DELIVERIES)).body).toEqual({ since: NOW, deliveries: [] });
  for (const id of ['a', 'b', 'c']) await deliver(receiver, id);
  expect(await idsIn(ask)).toEqual(['c', 'b', 'a']);
  clock.now += 1;
  await deliver(receiver, 'd', stranger);
  clock.now += 1;
  await deliver(receiver, 'a');
  expect((await ask(DELIVERIES)).body.deliveries).toMatchObject([
    { outcome: 'duplicate', event: { id: 'a' } },
    { outcome: 'rejected', status: 403 },
    {
      outcome: 'processed',
      event: { id: 'c', type: 'transfer.succeeded' },
      handlers: [{ name: 'book', ok: true }],
    },
    { event: { id: 'b' } },
    { event: { id: 'a' } },
  ]);
});

test('200 with an event are kept, and strangers push none of them out', async () => {
  const { receiver } = createOperated();
  const ask = fetchOperator(receiver);
  for (let n = 1; n <= 203; n += 1) await deliver(receiver, idOf(n));
  for (let n = 1; n <= 40; n += 1) await deliver(receiver, 'x', stranger);
  const ids = (await idsIn(ask)) ?? [];
  const known = ids.filter((id) => id !== undefined);
  expect(known).toHaveLength(200);
  expect([known[0], known[199]]).toEqual([idOf(203), idOf(4)]);
  expect(ids).toHaveLength(220);
});

test('replays and reruns are listed too, and a drop is not', async () => {
  const { receiver } = createOperated({ parked: letters(2), records: [record(3)] });
  const ask = fetchOperator(receiver);
  await ask('/api/dead-letters/drop', { body: { ids: [idOf(1)] } });
  await ask('/api/dead-letters/replay', { body: { ids: [idOf(2)] } });
  const rerun = { handlers: ['book'], run: 'mend', reason: 'wrong account' };
  await ask('/api/events/rerun', { body: { ...rerun, ids: [idOf(3)] } });
  expect((await ask(DELIVERIES)).body.deliveries).toMatchObject([
    { source: 'rerun', event: { id: idOf(3) }, rerun: { run: 'mend', reason: 'wrong account' } },
    { source: 'replay', event: { id: idOf(2) } },
  ]);
});

test('an error is its code and its message: neither its cause nor the event', async () => {
  const handle = (): never => {
    throw Object.assign(new Error('still locked', { cause: new Error('password=hunter2') }), {
      config: { headers: { authorization: 'Bearer hunter2' } },
    });
  };
  const { receiver } = createOperated({ handle });
  const ask = fetchOperator(receiver);
  await deliver(receiver, 'evt_1', { 'x-trace': ['hunter2'] });
  const { body, text } = await ask(DELIVERIES);
  expect(body.deliveries).toMatchObject([
    { outcome: 'failed', code: 'handler_failed', message: expect.stringContaining('still locked') },
  ]);
  expect(text).not.toMatch(/hunter2|amount|stack|cause/);
});

describe('the default log of a receiver', () => {
  test('is kept by the interface', async () => {
    const printed = silenced('error');
    const receiver = createUnobserved().on('*', () => {
      throw new Error('still locked');
    });
    fetchOperator(receiver);
    await receiver.replay({
      ...{ id: 'evt_1', reason: 'x', message: 'x', rawBody: Buffer.from('{'), headers: {} },
      ...{ receivedAt: 0, parkedAt: 0, attempts: 1, handled: [] },
    });
    expect(printed).toHaveBeenCalled();
  });
});
