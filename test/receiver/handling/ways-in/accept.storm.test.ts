import { describe, test } from 'vitest';
import { pause, tryTo } from '../../../stores/kit/process-storm.ts';
import { usePostgres } from '../../../stores/postgres/fixture.ts';
import { TcpProxy } from '../../../stores/redis/tcp-proxy.ts';
import { driverPath } from '../../../stores/sqlite/driver.ts';
import { useSqlite } from '../../../stores/sqlite/fixture.ts';
import { until } from '../../../support/until.ts';
import { expectEachHandledOnce } from './accept-storm.ts';

const SCOPE = 'accept-storm';
const AWAY_MS = 20_000;
const LOST_ANSWERS = 20;
const LOCKED_MS = 1_500;

describe('events that are delivered, accepted and replayed at the same time', () => {
  describe('with PostgreSQL', () => {
    const fixture = usePostgres({ fsync: 'on' });

    test('which is away for 20 s and whose answers are lost: each is handled once by each inbox', async () => {
      // Without a unique index: what is handled twice is there twice.
      await fixture.sql('create table handled (event_id text, handler text)');
      const proxy = await TcpProxy.start(fixture.port);
      const away = async (): Promise<void> => {
        await fixture.postgres.stop('immediate');
        await pause(AWAY_MS);
        await fixture.postgres.restart();
      };
      const loseAnswers = async (): Promise<void> => {
        for (const text of ['commit', 'insert into']) {
          proxy.cutAtRequests(text, LOST_ANSWERS);
          await until('answers are lost', () => proxy.cutsLeft === 0);
        }
      };
      await expectEachHandledOnce({
        env: { POSTGRES_URL: fixture.url({ port: proxy.port }), SCOPE },
        troubles: [away, loseAnswers],
        readHandled: async () =>
          (await fixture.sql("select concat_ws(' ', event_id, handler) from handled")).split('\n'),
      });
    });
  });

  describe('with a file of SQLite', () => {
    const fixture = useSqlite();

    test('which others lock now and then: each is handled once by each inbox', async () => {
      const database = await fixture.openMigrated();
      database.exec('create table handled (event_id text, handler text)');
      const lock = async (): Promise<void> => {
        await until('the lock is free for a moment', () => tryTo(() => database.exec('begin immediate')));
        await pause(LOCKED_MS);
        database.exec('commit');
      };
      await expectEachHandledOnce({
        env: { DRIVER: driverPath, FILE: fixture.path, SCOPE },
        troubles: [lock, lock],
        readHandled: async () =>
          database
            .prepare('select event_id, handler from handled')
            .all()
            .map((row) => Object.values(row ?? {}).join(' ')),
      });
    });
  });
});
