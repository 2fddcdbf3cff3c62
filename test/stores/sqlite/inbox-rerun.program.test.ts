import { beforeEach, describe } from 'vitest';
import { testKilledReruns } from '../kit/inbox/killed-reruns.ts';
import type { Connection } from './connection.ts';
import { driverPath } from './driver.ts';
import { useSqlite } from './fixture.ts';
import { bookingInbox, RERUN_SCOPE } from './inbox-rerun-tests.ts';
import { createLedger } from './ledger.ts';

describe('a rerun of a handler of an inbox in SQLite', () => {
  const fixture = useSqlite();
  let database: Connection;
  beforeEach(async () => {
    database = await fixture.openMigrated();
    createLedger(database);
  });

  const inbox = bookingInbox(() => database);
  testKilledReruns(inbox, () => ({ FILE: fixture.path, DRIVER: driverPath, SCOPE: RERUN_SCOPE }));
});
