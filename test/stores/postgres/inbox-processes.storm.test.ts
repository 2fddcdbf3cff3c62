import { createEvent, deliver } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { awaitedLater } from '../../support/awaited-later.ts';
import { KEY } from '../../support/served.ts';
import { useDatabase } from './fixture.ts';
import { openOther, startWorker } from './inbox-processes.ts';
import { bookings, useLedger } from './ledger.ts';

describe('a process with an inbox', () => {
  const fixture = useDatabase();
  const ledger = useLedger(fixture);

  test('that freezes inside a transaction gives the row up, and fails when it wakes', async () => {
    const worker = await startWorker(fixture.url(), 'freezes', { deadlineMs: 5_000, maxRunMs: 60_000 });
    const event = createEvent('transfer.succeeded');
    const cut = awaitedLater(deliver(worker.url, event, { key: KEY }));
    await worker.line(/^booked/);
    const { send, reports } = await openOther(ledger.pool, { deadlineMs: 25_000 });
    expect((await send(event)).status).toBe(200);
    expect(reports.all[0]?.handlers).toMatchObject([{ ok: true }]);
    expect(reports.all[0]?.handlers[0]?.skipped).toBeUndefined();
    worker.kill('SIGCONT');
    expect(await worker.line(/^reported failed .*handler "book" failed/)).toContain(
      'idle-in-transaction timeout',
    );
    expect((await cut).status).toBeGreaterThanOrEqual(500);
    expect(await bookings(ledger.pool, event)).toBe(1);
  });
});
