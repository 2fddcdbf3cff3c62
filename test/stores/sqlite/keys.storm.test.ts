import { expect, test } from 'vitest';
import { expectKeysHold } from '../kit/key-storm.ts';
import { driverPath } from './driver.ts';
import { useSqlite } from './fixture.ts';

const fixture = useSqlite();

test('two processes on a file of SQLite, killed and frozen: events of one key are handled one at a time, and none is lost', async () => {
  expect.hasAssertions();
  const database = await fixture.openMigrated();
  const keys = database.prepare(
    "select 1 from posthorn_events where key like 'handled:key:%' and expires_at > unixepoch('subsec') * 1000",
  );
  await expectKeysHold({
    env: { STORE: 'sqlite', ADDRESS: fixture.path, DRIVER: driverPath },
    countKeys: () => keys.all().length,
  });
});
