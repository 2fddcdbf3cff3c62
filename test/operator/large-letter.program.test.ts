import { randomUUID } from 'node:crypto';
import { createReceiver, type DeadLetter } from 'posthorn';
import { createPostgresDeadLetters, createPostgresStore } from 'posthorn/postgres';
import { createRedisDeadLetters, createRedisStore } from 'posthorn/redis';
import { createSqliteDeadLetters, createSqliteStore } from 'posthorn/sqlite';
import { describe, expect, test } from 'vitest';
import { inOrder, letter } from '../cli/letters.ts';
import { useDatabase } from '../stores/postgres/fixture.ts';
import { useRedis } from '../stores/redis/fixture.ts';
import { useSqlite } from '../stores/sqlite/fixture.ts';
import { ampleDeadlines, ampleTime } from '../support/limits.ts';
import { KEY } from '../support/served.ts';
import { silenced } from '../support/silenced.ts';
import type { StoreOfLetters } from './many-letters.ts';
import { fetchOperator, serveOperator } from './mounts.ts';

const LETTERS = '/api/dead-letters';
const MEBIBYTE = 1_048_576;
const filler = 'é'.repeat(4 * MEBIBYTE);

function largeLetter(id: string, parkedAt: number): DeadLetter {
  const event = { id, type: 'transfer.succeeded', created_at: new Date().toISOString(), data: { filler } };
  return letter(id, { parkedAt, rawBody: Buffer.from(JSON.stringify(event)) });
}

describe('a dead letter with a body of 8 MB', () => {
  const database = useDatabase();
  const fixture = useRedis();
  const sqlite = useSqlite();

  const openers: Readonly<Record<string, () => Promise<StoreOfLetters>>> = {
    PostgreSQL: async () => {
      const pool = database.connect();
      const options = { scope: randomUUID(), ...ampleTime };
      return {
        store: createPostgresStore(pool, options),
        deadLetters: createPostgresDeadLetters(pool, options),
      };
    },
    SQLite: async () => {
      const connection = await sqlite.openMigrated();
      const options = { scope: randomUUID(), ...ampleTime };
      return {
        store: createSqliteStore(connection, options),
        deadLetters: createSqliteDeadLetters(connection, options),
      };
    },
    Redis: async () => {
      const client = await fixture.connect();
      const options = { scope: randomUUID(), ...ampleTime };
      return {
        store: createRedisStore(client, options),
        deadLetters: createRedisDeadLetters(client, options),
      };
    },
  };
  const cases = [
    { store: 'PostgreSQL', over: 'Node.js http', mount: serveOperator },
    { store: 'PostgreSQL', over: 'fetch', mount: fetchOperator },
    { store: 'SQLite', over: 'fetch', mount: fetchOperator },
    { store: 'Redis', over: 'Node.js http', mount: serveOperator },
  ];

  test.each(cases)(
    'is listed, shown, replayed and dropped, on $store over $over',
    async ({ mount, store }) => {
      silenced('info');
      const opened = await openers[store]?.();
      const lengths: number[] = [];
      const receiver = createReceiver({ signingKey: KEY, ...ampleDeadlines, ...opened })
        .on('transfer.succeeded', (event) => void lengths.push(JSON.stringify(event.data).length))
        .observe(() => {});
      const ask = await mount(receiver);
      const others = inOrder(['before', 'between', 'after']);
      const [before, between, after] = others.map(({ parkedAt }) => parkedAt);
      const large = [
        largeLetter('large_1', ((before ?? 0) + (between ?? 0)) / 2),
        largeLetter('large_2', ((between ?? 0) + (after ?? 0)) / 2),
      ];
      for (const each of [...others, ...large]) await opened?.deadLetters.put(each);

      const list = await ask(LETTERS);
      const ids = list.body.deadLetters?.map(({ id }) => id);
      expect(ids).toEqual(['before', 'large_1', 'between', 'large_2', 'after']);
      expect(list.text.length).toBeLessThan(5_000);

      const shown = await ask(`${LETTERS}/large_1`);
      expect(shown.body.body === Buffer.from(large[0]?.rawBody ?? []).toString()).toBe(true);

      const replayed = await ask(`${LETTERS}/replay`, { body: { ids: ['large_1'] } });
      expect(replayed.body.results).toMatchObject([{ id: 'large_1', outcome: 'processed' }]);
      expect(lengths).toEqual([JSON.stringify({ filler }).length]);
      const dropped = await ask(`${LETTERS}/drop`, { body: { ids: ['large_2'] } });
      expect(dropped.body.results).toMatchObject([{ id: 'large_2', outcome: 'dropped' }]);
      expect(lengths.length).toBe(1);
      const left = (await ask(LETTERS)).body.deadLetters?.map(({ id }) => id);
      expect(left).toEqual(['before', 'between', 'after']);
    },
  );
});
