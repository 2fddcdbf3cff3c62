import { describe, expect, test } from 'vitest';
import { shutGate } from '../../support/gate.ts';
import { useDatabase } from './fixture.ts';
import { isInboxError } from './inbox-failure.ts';
import { eventOf, eventsOf, open, openProcess } from './inbox-hot-key.ts';

describe('events of one latest key', () => {
  const fixture = useDatabase();

  test('that wait give up at their deadline, and the next ones go on', async () => {
    const gate = shutGate();
    const { pool } = openProcess(fixture);
    const one = await open(pool, () => gate.pass());
    const hasty = await open(pool, () => expect.unreachable(), { deadlineMs: 3_000 });
    const [first, last] = [eventOf('late'), eventOf('late')];
    const running = one.send(first);
    await gate.held.nth(1);
    // One looks for the row, and the other waits for that one.
    const hurried = eventsOf('late', 2).map((event) => hasty.send(event));
    await hasty.come.nth(2);
    const waiting = one.send(last);
    await one.come.nth(2);
    await hasty.reports.nth(2, ({ error }) => isInboxError(error?.cause, 'inbox_busy'));
    for (const answer of hurried) expect((await answer).status).toBeGreaterThanOrEqual(500);
    gate.open();
    expect([(await running).status, (await waiting).status]).toEqual([200, 200]);
    expect(one.run.all).toEqual([first.id, last.id]);
  });

  test('go on while one stands still whose transaction PostgreSQL has ended', async () => {
    const gate = shutGate();
    const { pool } = openProcess(fixture);
    const still = await open(pool, () => gate.pass(), { deadlineMs: 8_000 });
    const running = still.send(eventOf('still'));
    await gate.held.nth(1);
    const { send } = await open(pool, () => {});
    for (const event of eventsOf('still', 3)) expect((await send(event)).status).toBe(200);
    gate.open();
    expect((await running).status).toBeGreaterThanOrEqual(500);
    await still.reports.first(({ error }) => isInboxError(error?.cause, 'inbox_rolled_back'));
  });
});
