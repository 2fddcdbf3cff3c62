import { Pool } from 'pg';
import { createReceiver, type EventData } from 'posthorn';
import {
  type BeginTransaction,
  createPostgresInbox,
  type PostgresInbox,
  type PostgresTransaction,
} from 'posthorn/postgres';
import { expectTypeOf, test } from 'vitest';
import * as z from 'zod';

const pool = new Pool();
const scope = 'types-test';
const transfer = z.object({ id: z.string(), amount: z.number().int().transform(BigInt) });

test('a handler of once has the event of the pattern', () => {
  const inbox = createPostgresInbox(pool, { scope });
  createReceiver({ signingKey: 'key', schemas: { transfer } })
    .on(
      'transfer.succeeded',
      inbox.once('one', async (event, { transaction, signal, attempt }) => {
        expectTypeOf(event.type).toEqualTypeOf<'transfer.succeeded'>();
        expectTypeOf(event.data).toEqualTypeOf<{ id: string; amount: bigint }>();
        expectTypeOf(transaction).toEqualTypeOf<PostgresTransaction>();
        expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
        expectTypeOf(attempt).toBeNumber();
        const { rows } = await transaction.query<{ balance: string }>('select balance from accounts');
        expectTypeOf(rows).toEqualTypeOf<{ balance: string }[]>();
        // @ts-expect-error no type of the pattern
        expectTypeOf<typeof event.type>().toEqualTypeOf<'transfer.failed'>();
      }),
    )
    .on(
      ['transfer.created', 'dispute.won'],
      inbox.once('two', (event) => {
        expectTypeOf(event.type).toEqualTypeOf<'transfer.created' | 'dispute.won'>();
        if (event.type === 'dispute.won') expectTypeOf(event.data).toEqualTypeOf<EventData>();
      }),
    )
    .on(
      'dispute.*',
      inbox.once('three', (event) => expectTypeOf(event.data.id).toEqualTypeOf<string | undefined>(), {
        latest: (event) => event.data.id,
      }),
    );
  inbox.once('ranked', () => {}, { latest: (event) => ({ key: event.id, rank: 1 }) });
  // @ts-expect-error a rank is a number
  inbox.once('not ranked', () => {}, { latest: (event) => ({ key: event.id, rank: '1' }) });
  const other = inbox.once('four', (event: { id: string; created_at: string; own: true }) => event);
  // @ts-expect-error a handler of another event
  createReceiver({ signingKey: 'key' }).on('dispute.won', other);
});

test('begin types the transaction', () => {
  interface Tx {
    readonly own: true;
  }
  const begin: BeginTransaction<Tx> = (work) => work({ own: true }, async () => ({ rows: [] }));
  expectTypeOf(createPostgresInbox(pool, { scope, begin })).toEqualTypeOf<PostgresInbox<Tx>>();
  expectTypeOf(createPostgresInbox(pool, { scope })).toEqualTypeOf<PostgresInbox>();
});
