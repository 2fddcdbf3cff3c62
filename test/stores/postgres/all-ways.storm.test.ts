import { createPostgresDeadLetters, createPostgresJournal, createPostgresStore } from 'posthorn/postgres';
import { describe, test } from 'vitest';
import { ampleTime } from '../../support/limits.ts';
import { until } from '../../support/until.ts';
import { expectAllWaysOnce } from '../kit/expect-all-ways.ts';
import { pause } from '../kit/process-storm.ts';
import { TcpProxy } from '../redis/tcp-proxy.ts';
import { usePostgres } from './fixture.ts';

const scope = 'all-ways';
/** Far more than a busy machine needs. */
const LIMIT_MS = 600_000;
const AWAY_MS = 20_000;
const LOST_ANSWERS = 20;

describe('events that are delivered, accepted, replayed and rerun at the same time', () => {
  const fixture = usePostgres({ fsync: 'on' });

  test(
    'with PostgreSQL away for 20 s, and answers lost: each is handled once by each inbox',
    async () => {
      // Without a unique index: what is handled twice is there twice.
      await fixture.sql('create table handled (event_id text, handler text, run text)');
      const proxy = await TcpProxy.start(fixture.port);
      const away = async (): Promise<void> => {
        await fixture.postgres.stop('immediate');
        await pause(AWAY_MS);
        await fixture.postgres.restart();
      };
      const loseAnswers = async (): Promise<void> => {
        for (const text of ['commit', 'insert into', 'operate']) {
          proxy.cutAtRequests(text, LOST_ANSWERS);
          await until('answers are lost', () => proxy.cutsLeft === 0);
        }
      };
      const pool = fixture.connect();
      await expectAllWaysOnce({
        env: { POSTGRES_URL: fixture.url({ port: proxy.port }), SCOPE: scope },
        troubles: [away, loseAnswers],
        readHandled: async () =>
          (await fixture.sql("select concat_ws(' ', event_id, handler, run) from handled")).split('\n'),
        countClaims: async () =>
          Number(await fixture.sql('select count(*) from posthorn.events where lease_ends_at > now()')),
        store: createPostgresStore(pool, { scope, ...ampleTime }),
        deadLetters: createPostgresDeadLetters(pool, { scope, ...ampleTime }),
        journal: createPostgresJournal(pool, { scope, ...ampleTime }),
      });
    },
    LIMIT_MS,
  );
});
