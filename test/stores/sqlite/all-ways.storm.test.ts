import { createSqliteDeadLetters, createSqliteJournal, createSqliteStore } from 'posthorn/sqlite';
import { describe, test } from 'vitest';
import { until } from '../../support/until.ts';
import { expectAllWaysOnce } from '../kit/expect-all-ways.ts';
import { pause, tryTo } from '../kit/process-storm.ts';
import { driverPath } from './driver.ts';
import { useSqlite } from './fixture.ts';

const scope = 'all-ways';
/** Far more than a busy machine needs. */
const LIMIT_MS = 600_000;
const LOCKED_MS = 20_000;
const BRIEFLY_LOCKED_MS = 1_500;

describe('events that are delivered, accepted, replayed and rerun at the same time', () => {
  const fixture = useSqlite();

  test(
    'with a file of SQLite that is locked for 20 s: each is handled once by each inbox',
    async () => {
      const database = await fixture.openMigrated();
      database.exec('create table handled (event_id text, handler text, run text)');
      const lockFor = (ms: number) => async (): Promise<void> => {
        await until('the lock is free for a moment', () => tryTo(() => database.exec('begin immediate')));
        await pause(ms);
        database.exec('commit');
      };
      const valuesOf = (sql: string): unknown[][] =>
        database
          .prepare(sql)
          .all()
          .map((row) => Object.values(row ?? {}));
      await expectAllWaysOnce({
        env: { DRIVER: driverPath, FILE: fixture.path, SCOPE: scope },
        troubles: [lockFor(LOCKED_MS), lockFor(BRIEFLY_LOCKED_MS)],
        readHandled: async () =>
          valuesOf('select event_id, handler, run from handled').map((values) => values.join(' ')),
        countClaims: async () =>
          valuesOf("select 1 from posthorn_events where lease_ends_at > unixepoch('subsec') * 1000").length,
        store: createSqliteStore(database, { scope }),
        deadLetters: createSqliteDeadLetters(database, { scope }),
        journal: createSqliteJournal(database, { scope }),
      });
    },
    LIMIT_MS,
  );
});
