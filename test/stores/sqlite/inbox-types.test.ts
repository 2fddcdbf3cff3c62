import { createReceiver } from 'posthorn';
import { createSqliteInbox, type SqliteDatabase, type SqliteTransaction } from 'posthorn/sqlite';
import { expectTypeOf, test } from 'vitest';
import * as z from 'zod';
import { throwing } from '../../support/throwing.ts';

const database: SqliteDatabase = {
  exec: () => {},
  prepare: () => ({ run: () => {}, get: () => {}, all: () => [] }),
};
const transfer = z.object({ id: z.string(), amount: z.number().int().transform(BigInt) });

test('a handler of once has the event of the pattern, and is synchronous', () => {
  const inbox = createSqliteInbox(database, { scope: 'types-test' });
  createReceiver({ signingKey: 'key', schemas: { transfer } })
    .on(
      'transfer.succeeded',
      inbox.once('one', (event, { database, signal, attempt }) => {
        expectTypeOf(event.type).toEqualTypeOf<'transfer.succeeded'>();
        expectTypeOf(event.data).toEqualTypeOf<{ id: string; amount: bigint }>();
        expectTypeOf(database).toEqualTypeOf<SqliteTransaction>();
        expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
        expectTypeOf(attempt).toBeNumber();
        // @ts-expect-error no type of the pattern
        expectTypeOf<typeof event.type>().toEqualTypeOf<'transfer.failed'>();
      }),
    )
    .on(
      ['transfer.created', 'dispute.won'],
      inbox.once('two', (event, { database }) => database.prepare('select 1').run(event.id), {
        latest: (event) => event.data.id,
      }),
    );
  inbox.once('ranked', () => 1, { latest: (event) => ({ key: event.id, rank: 1 }) });
  inbox.once('throws', throwing('always'));
  // @ts-expect-error a handler that returns a promise
  inbox.once('asynchronous', async () => {});
  // @ts-expect-error a rank is a number
  inbox.once('not ranked', () => {}, { latest: (event) => ({ key: event.id, rank: '1' }) });
});
