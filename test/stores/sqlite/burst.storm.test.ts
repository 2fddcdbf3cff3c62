import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { packageRoot, startProgram } from '../../support/child-program.ts';
import { eventAt } from '../../support/open-endpoint.ts';
import { sendTogether } from '../../support/send-together.ts';
import { KEY } from '../../support/served.ts';
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

  const startReceiver = async (): Promise<string> => {
    const program = startProgram(
      join(packageRoot, 'test', 'stores', 'sqlite', 'burst-program.mjs'),
      { PATH: process.env.PATH, DRIVER: driverPath, FILE: fixture.path, KEY, SYNC_MS: String(SYNC_MS) },
      packageRoot,
    );
    onTestFinished(async () => {
      program.kill('SIGKILL');
      await program.exit;
    });
    const [, port] = (await program.line(/^listening /)).split(' ');
    return `http://127.0.0.1:${port}/`;
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
