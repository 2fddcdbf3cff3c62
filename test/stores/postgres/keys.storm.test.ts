import { expect, test } from 'vitest';
import { expectKeysHold } from '../kit/key-storm.ts';
import { useDatabase } from './fixture.ts';

const fixture = useDatabase();

test('two processes on PostgreSQL, killed and frozen: events of one key are handled one at a time, and none is lost', async () => {
  expect.hasAssertions();
  const keys =
    "select count(*) from posthorn.events where key like 'handled:key:%' and expires_at > clock_timestamp()";
  await expectKeysHold({
    env: { STORE: 'postgres', ADDRESS: fixture.url() },
    countKeys: async () => Number(await fixture.sql(keys)),
  });
});
