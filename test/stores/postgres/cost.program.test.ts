import { createPostgresStore } from 'posthorn/postgres';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { ampleTime } from '../../support/limits.ts';
import { until } from '../../support/until.ts';
import { useDatabase } from './fixture.ts';

const times = { leaseMs: 20_000, retentionMs: 86_400_000 };

/** 32 characters, as the service's ids have. */
const idOf = (number: number): string => `evt_${String(number).padStart(28, '0')}`;

describe('an event in PostgreSQL costs little', () => {
  const fixture = useDatabase();

  test('statements: operations of one turn share them', async () => {
    const pool = fixture.connect();
    const store = createPostgresStore(pool, { scope: 'shared', ...ampleTime });
    const requests = Array.from({ length: 32 }, (_, number) => ({ ...times, id: idOf(number), token: 'a' }));
    await Promise.all(requests.map((request) => store.complete(request)));
    expect(pool.totalCount).toBe(2);
    const results = await Promise.all(requests.map((request) => store.claim({ ...request, token: 'b' })));
    expect(results).toEqual(Array(32).fill({ state: 'completed' }));
  });

  test('expired ids are deleted in batches, and no others', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    onTestFinished(() => void vi.restoreAllMocks());
    const rows = async (name: string, count: number, first: string, last: string): Promise<void> => {
      await fixture.sql(
        `insert into posthorn.events (scope, key, first_expires_at, expires_at)
         select 'cleaned', '${name} ' || n, now() + interval '${first}', now() + interval '${last}'
         from generate_series(1, ${count}) as n`,
      );
    };
    await rows('expired', 3_500, '-1 hour', '-1 minute');
    await rows('renewed', 10, '-1 hour', '1 hour');
    await rows('kept', 1_000, '1 hour', '1 hour');
    const left = "select count(*) from posthorn.events where scope = 'cleaned'";
    const store = createPostgresStore(fixture.connect(), { scope: 'cleaning', ...ampleTime });
    let number = 0;
    await until('the expired ids are gone', async () => {
      number += 1;
      await store.claim({ ...times, id: idOf(number), token: 'a' });
      return (await fixture.sql(left)) === '1010';
    });
  });

  test('one process cleans at a time, and passes over rows that are locked', async () => {
    await fixture.sql(
      `insert into posthorn.events (scope, key, first_expires_at, expires_at)
       select 'once', n::text, now() - interval '1 hour', now() - interval '1 hour' from generate_series(1, 10) as n;
       insert into posthorn.events (scope, key, first_expires_at, expires_at)
       values ('kept', '1', now() + interval '1 hour', now() + interval '1 hour')`,
    );
    const holder = await fixture.connect().connect();
    await holder.query('begin');
    await holder.query("select from posthorn.events where scope = 'once' and key in ('1', '2') for update");
    await holder.query("select from posthorn.events where scope = 'kept' for share");
    expect(await fixture.sql('select posthorn.clean(1000)')).toBe('8');
    await holder.query('select posthorn.clean(1)');
    expect(await fixture.sql('select posthorn.clean(1000)')).toBe('0');
    await holder.query('rollback');
    holder.release();
    expect(await fixture.sql('select posthorn.clean(1000)')).toBe('2');
  });
});
