import { describe, expect, test } from 'vitest';
import { eventAt } from '../../support/open-endpoint.ts';
import { addressOf, startOwnProgram } from '../../support/own-program.ts';
import { sendTogether } from '../../support/send-together.ts';
import { driverPath } from './driver.ts';
import { useSqlite } from './fixture.ts';
import { createLedger } from './ledger.ts';

const PROCESSES = 6;
const DELIVERIES = 120;
/** One of so many is booked in an inbox, in a transaction of its own. */
const DELIVERIES_FOR_A_BOOKING = 12;
const SYNC_MS = 30;

describe('processes on one file of SQLite on a slow disk', () => {
  const fixture = useSqlite();

  const startReceiver = (): Promise<string> => {
    const env = { DRIVER: driverPath, FILE: fixture.path, SYNC_MS: String(SYNC_MS) };
    return addressOf(startOwnProgram('test/stores/sqlite/burst-program.mjs', env));
  };

  test('answer 200 to each delivery of a burst, though a claim waits longer than commandTimeoutMs', async () => {
    const database = await fixture.openMigrated();
    createLedger(database);
    const urls = await Promise.all(Array.from({ length: PROCESSES }, startReceiver));
    const sent = urls.map((url) => {
      const events = Array.from({ length: DELIVERIES }, (_, index) =>
        index % DELIVERIES_FOR_A_BOOKING === 0
          ? eventAt(Date.now())
          : { ...eventAt(Date.now()), type: 'transfer.created' },
      );
      return { events, answers: sendTogether(url, events) };
    });
    for (const { events, answers } of sent)
      expect(await answers).toEqual(events.map(({ id }) => ({ outcome: 'processed', id })));
    const booked = database.prepare('select event_id from ledger').all();
    expect(booked.length).toBe((PROCESSES * DELIVERIES) / DELIVERIES_FOR_A_BOOKING);
    expect(new Set(booked.map((row) => JSON.stringify(row))).size).toBe(booked.length);
  });
});
