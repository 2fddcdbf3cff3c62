import { createEvent, deliver } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { KEY } from '../../support/served.ts';
import { useDatabase } from './fixture.ts';
import { openOther, startWorker } from './inbox-processes.ts';
import { bookings, useLedger } from './ledger.ts';

describe('a process with an inbox', () => {
  const fixture = useDatabase();
  const ledger = useLedger(fixture);

  test.each([
    { type: 'transfer.succeeded', times: 1, with: 'with the inbox' },
    { type: 'transfer.failed', times: 2, with: 'without it' },
  ] as const)(
    'that is killed between handler and record books $times times $with',
    async ({ type, times }) => {
      const worker = await startWorker(fixture.url(), 'dies');
      const event = createEvent(type);
      await expect(deliver(worker.url, event, { key: KEY })).rejects.toThrow();
      await worker.exit;
      expect(worker.lines).toContain(`booked ${event.id}`);
      const { send, reports } = await openOther(ledger.pool);
      expect((await send(event)).status).toBe(200);
      expect(await bookings(ledger.pool, event)).toBe(times);
      expect(reports.all[0]?.handlers[0]?.skipped).toBe(times === 1 ? 'handled_before' : undefined);
    },
  );
});
