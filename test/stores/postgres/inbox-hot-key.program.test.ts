import { describe, expect, test } from 'vitest';
import { shutGate } from '../../support/gate.ts';
import { useDatabase } from './fixture.ts';
import { eventOf, eventsOf, open, openProcess } from './inbox-hot-key.ts';

describe('events of one latest key', () => {
  const fixture = useDatabase();

  test.each([
    { transactions: 'of the pool', isBegun: false },
    { transactions: 'of another client', isBegun: true },
  ])(
    'have one connection for all that wait, and run in the order of their arrival: $transactions',
    async ({ isBegun }) => {
      const gate = shutGate();
      const { pool, taken } = openProcess(fixture);
      const hot = eventsOf('hot', 12);
      const isHot = new Set(hot.map(({ id }) => id));
      const work = (id: string) => (isHot.has(id) ? gate.pass() : undefined);
      const { send, come, run } = await open(pool, work, { isBegun });
      const answers = hot.map((event) => send(event));
      await gate.held.nth(1);
      await come.nth(hot.length);
      for (const id of ['1', '2', '3']) expect((await send(eventOf(id))).status).toBe(200);
      // The run that has the key, the one that looks for its row, and that of another key.
      expect(taken.most).toBeLessThanOrEqual(3);
      gate.open();
      for (const answer of answers) expect((await answer).status).toBe(200);
      expect(run.all.filter((id) => isHot.has(id))).toEqual(come.all.filter((id) => isHot.has(id)));
    },
  );

  test('that wait give up when their signal aborts, and the next ones go on', async () => {
    const gate = shutGate();
    const { pool } = openProcess(fixture);
    const one = await open(pool, () => gate.pass());
    const closing = await open(pool, () => expect.unreachable());
    const [first, last] = [eventOf('closed'), eventOf('closed')];
    const running = one.send(first);
    await gate.held.nth(1);
    const aborted = eventsOf('closed', 2).map((event) => closing.send(event));
    await closing.come.nth(2);
    const waiting = one.send(last);
    await one.come.nth(2);
    expect((await closing.receiver.close({ graceMs: 0 })).abandoned).toHaveLength(2);
    for (const answer of aborted) expect((await answer).status).toBe(503);
    gate.open();
    expect([(await running).status, (await waiting).status]).toEqual([200, 200]);
    expect(one.run.all).toEqual([first.id, last.id]);
  });

  test('go on beside one that runs again after a conflict', async () => {
    const { pool, taken } = openProcess(fixture);
    const events = eventsOf('conflict', 9);
    const conflicting = new Set(events.map(({ id }) => id));
    const { send, run } = await open(pool, (id) => {
      // What pg throws for a serialization failure.
      if (conflicting.delete(id)) throw Object.assign(new Error('no'), { severity: 'ERROR', code: '40001' });
    });
    const answers = events.map((event) => send(event));
    for (const answer of answers) expect((await answer).status).toBe(200);
    expect(run.all).toHaveLength(9);
    expect(taken.most).toBeLessThanOrEqual(2);
  });

  test('go on after one whose handler fails', async () => {
    const gate = shutGate();
    const { pool } = openProcess(fixture);
    const [first, second] = [eventOf('failed'), eventOf('failed')];
    const { send, come, run } = await open(pool, async (id) => {
      await gate.pass();
      if (id === first.id) throw new Error('no');
    });
    const failing = send(first);
    await gate.held.nth(1);
    const waiting = send(second);
    await come.nth(2);
    gate.open();
    expect([(await failing).status, (await waiting).status]).toEqual([500, 200]);
    expect(run.all).toEqual([second.id]);
  });

  test('wait for another process on one connection', async () => {
    const gate = shutGate();
    const one = await open(openProcess(fixture).pool, () => gate.pass());
    const running = one.send(eventOf('elsewhere'));
    await gate.held.nth(1);
    const { pool, acquired, taken } = openProcess(fixture);
    const other = await open(pool, () => {});
    const events = eventsOf('elsewhere', 8);
    const answers = events.map((event) => other.send(event));
    await other.come.nth(events.length);
    // Three looks for the row.
    await acquired.nth(3);
    expect(taken.most).toBe(1);
    gate.open();
    expect((await running).status).toBe(200);
    for (const answer of answers) expect((await answer).status).toBe(200);
    expect(other.run.all).toEqual(other.come.all);
  });

  test('of another scope do not wait', async () => {
    const gate = shutGate();
    const { pool } = openProcess(fixture);
    const one = await open(pool, () => gate.pass());
    const running = one.send(eventOf('scopes'));
    await gate.held.nth(1);
    const other = await open(pool, () => {}, { scope: 'hot-key-other' });
    expect((await other.send(eventOf('scopes'))).status).toBe(200);
    gate.open();
    expect((await running).status).toBe(200);
  });
});
