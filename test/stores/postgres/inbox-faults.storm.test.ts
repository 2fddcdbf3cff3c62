import type { Pool } from 'pg';
import { createPostgresInbox } from 'posthorn/postgres';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import type { EndpointOptions } from '../../support/open-endpoint.ts';
import { until } from '../../support/until.ts';
import { usePostgres } from './fixture.ts';
import { isInboxError } from './inbox-failure.ts';
import { bookings, type Handle, holdRun, openBook, useLedger } from './ledger.ts';

const scope = 'inbox-test';

describe('an inbox whose PostgreSQL is away, or another run has the event,', () => {
  const fixture = usePostgres();
  const ledger = useLedger(fixture);

  const open = (of: Pool, handle: Handle = () => {}, options: EndpointOptions = {}) =>
    openBook(createPostgresInbox(of, { scope }), handle, options);

  test('fails at its deadline while another run has the event', async () => {
    const { event, gate, running } = await holdRun((pass) => open(ledger.pool, pass));
    const second = await open(ledger.pool, () => expect.unreachable(), { deadlineMs: 5_000 });
    expect((await second.send(event)).status).toBeGreaterThanOrEqual(500);
    await second.reports.first(({ error }) => isInboxError(error?.cause, 'inbox_busy'));
    gate.open();
    expect((await running).status).toBe(200);
  });

  test('answers before the deadline while others keep all connections of the pool', async () => {
    const own = fixture.connect({ max: 2 });
    const taken = [await own.connect(), await own.connect()];
    const { send, reports } = await open(own, () => {}, { deadlineMs: 5_000 });
    const event = createEvent('transfer.succeeded');
    expect((await send(event)).status).toBeGreaterThanOrEqual(500);
    await reports.first(({ error }) => isInboxError(error?.cause, 'inbox_unavailable'));
    for (const client of taken) client.release();
    await until('the client that came late is back', () => own.idleCount === 2);
    expect((await send(event)).status).toBe(200);
  });

  test('answers in time while the server is frozen, and goes on when it thaws', async () => {
    const own = fixture.connect();
    const { send, reports } = await open(own, () => {}, { deadlineMs: 5_000 });
    expect((await send(createEvent('transfer.succeeded'))).status).toBe(200);
    const event = createEvent('transfer.succeeded');
    fixture.postgres.freeze();
    try {
      expect((await send(event)).status).toBeGreaterThanOrEqual(500);
      await reports.first(({ error }) => isInboxError(error?.cause, 'inbox_unavailable'));
    } finally {
      fixture.postgres.thaw();
    }
    expect((await send(event)).status).toBe(200);
    expect(await bookings(ledger.pool, event)).toBe(1);
  });

  test.each(['fast', 'immediate', 'kill'] as const)(
    'runs again after the server ended (%s)',
    async (mode) => {
      const own = fixture.connect();
      let stops = 0;
      const { send, reports } = await open(own, async () => {
        stops += 1;
        if (stops === 1) await fixture.postgres.stop(mode);
      });
      const event = createEvent('transfer.succeeded');
      expect((await send(event)).status).toBe(500);
      expect((await send(event)).status).toBe(500);
      expect(reports.all[1]?.error?.cause).toMatchObject({ code: 'inbox_unavailable' });
      await fixture.postgres.restart();
      expect((await send(event)).status).toBe(200);
      expect([stops, await bookings(ledger.pool, event)]).toEqual([2, 1]);
    },
  );
});
