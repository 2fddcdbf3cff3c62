import { statSync } from 'node:fs';
import type { Store } from 'posthorn';
import { createSqliteStore } from 'posthorn/sqlite';
import { createEvent } from 'posthorn/testing';
import { expect, test } from 'vitest';
import { ampleTime } from '../../support/limits.ts';
import { useSqlite } from './fixture.ts';

const fixture = useSqlite();

const leaseMs = 20_000;
const dayMs = 86_400_000;

test.each([
  {
    name: 'a completed id takes some 140 bytes of the file',
    idOf: (random: string) => random,
    end: (store: Store, id: string, token: string) => store.complete({ id, token, retentionMs: dayMs }),
  },
  {
    name: 'a released key takes some 230 bytes of the file',
    idOf: (random: string) => `handled:key:4:book:${random}`,
    end: (store: Store, id: string, token: string) =>
      store.release({ id, token, retentionMs: leaseMs, handled: [] }),
  },
])('$name', async ({ name, idOf, end }) => {
  const database = await fixture.openMigrated();
  const store = createSqliteStore(database, { scope: 'billing-1', ...ampleTime });
  const sizeOf = () => {
    database.exec('pragma wal_checkpoint(truncate)');
    return statSync(fixture.path).size;
  };
  const before = sizeOf();
  const ids = Array.from({ length: 5_000 }, () => idOf(createEvent('transfer.succeeded').id.slice(0, 32)));
  for (let begin = 0; begin < ids.length; begin += 500) {
    const some = ids.slice(begin, begin + 500);
    await Promise.all(
      some.map(async (id) => {
        const token = 'x'.repeat(24);
        await store.claim({ id, token, leaseMs, retentionMs: dayMs });
        await end(store, id, token);
      }),
    );
  }
  const bytes = (sizeOf() - before) / ids.length;
  process.stdout.write(`${name}: ${Math.round(bytes)} bytes\n`);
  const [, about] = /some (\d+) bytes/.exec(name) ?? [];
  expect(bytes).toBeGreaterThan(Number(about) * 0.7);
  expect(bytes).toBeLessThan(Number(about) * 1.5);
});
