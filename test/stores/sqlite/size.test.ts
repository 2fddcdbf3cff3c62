import { statSync } from 'node:fs';
import { createSqliteStore } from 'posthorn/sqlite';
import { createEvent } from 'posthorn/testing';
import { expect, test } from 'vitest';
import { ampleTime } from '../../support/limits.ts';
import { useSqlite } from './fixture.ts';

const fixture = useSqlite();

test('a completed id takes some 140 bytes of the file', async () => {
  const database = await fixture.openMigrated();
  const store = createSqliteStore(database, { scope: 'billing-1', ...ampleTime });
  const sizeOf = () => {
    database.exec('pragma wal_checkpoint(truncate)');
    return statSync(fixture.path).size;
  };
  const before = sizeOf();
  const ids = Array.from({ length: 5_000 }, () => createEvent('transfer.succeeded').id.slice(0, 32));
  for (let begin = 0; begin < ids.length; begin += 500) {
    const some = ids.slice(begin, begin + 500);
    await Promise.all(
      some.map(async (id) => {
        await store.claim({ id, token: 'x'.repeat(24), leaseMs: 20_000, retentionMs: 86_400_000 });
        await store.complete({ id, token: 'x'.repeat(24), retentionMs: 86_400_000 });
      }),
    );
  }
  const bytes = (sizeOf() - before) / ids.length;
  process.stdout.write(`a completed id in SQLite: ${Math.round(bytes)} bytes\n`);
  expect(bytes).toBeGreaterThan(100);
  expect(bytes).toBeLessThan(220);
});
