import type { Pool } from 'pg';
import {
  createPostgresDeadLetters,
  createPostgresInbox,
  createPostgresStore,
  type PostgresInbox,
} from 'posthorn/postgres';
import { createEvent } from 'posthorn/testing';
import { expect } from 'vitest';
import { ampleDeadlines, ampleTime } from '../../support/limits.ts';
import { openEndpoint } from '../../support/open-endpoint.ts';
import { createLetter } from '../kit/conformance.ts';
import { bookings, recordsOf } from './ledger.ts';
import { clientOf } from './pool-client.ts';

export const scope = 'durable';
export const times = { leaseMs: 20_000, retentionMs: 86_400_000, handled: [] };

/** What a 2xx rests on: does it, and resolves with what looks for it after a crash. */
export type Deed = (pool: Pool, id: string) => Promise<(pool: Pool) => Promise<unknown>>;

export const deeds: Readonly<Record<string, Deed>> = {
  'the record of an inbox and its effect': (pool, id) => handleIn(createPostgresInbox(pool, { scope }), id),
  'both through begin': (pool, id) =>
    handleIn(createPostgresInbox(pool, { scope, begin: clientOf(pool).begin }), id),
  'a completion': async (pool, id) => {
    const store = createPostgresStore(pool, { scope, ...ampleTime });
    await store.complete({ ...times, id, token: 'a' });
    return (later) => isCompleted(later, id);
  },
  'a completion that shares its statement with claims': async (pool, id) => {
    const store = createPostgresStore(pool, { scope, ...ampleTime });
    const claim = (other: string) => store.claim({ ...times, id: `${id} ${other}`, token: 'a' });
    await Promise.all([claim('first'), store.complete({ ...times, id, token: 'a' }), claim('last')]);
    return (later) => isCompleted(later, id);
  },
  'a letter': async (pool, id) => {
    await createPostgresDeadLetters(pool, { scope, ...ampleTime }).put(createLetter({ id }));
    return async (later) =>
      (await createPostgresDeadLetters(later, { scope, ...ampleTime }).get(id))?.id === id;
  },
};

/** What the transactions of `pg` and of an inbox have in common. */
interface Transaction {
  query(text: string, values: unknown[]): Promise<unknown>;
}

async function handleIn(inbox: PostgresInbox<Transaction>, id: string) {
  const event = { ...createEvent('transfer.succeeded'), id };
  const { send } = await openEndpoint(ampleDeadlines, (receiver) => {
    receiver.on(
      'transfer.*',
      inbox.once('book', (_event, { transaction }) =>
        transaction.query('insert into ledger values ($1)', [id]),
      ),
    );
  });
  expect(await send(event)).toMatchObject({ status: 200, body: { outcome: 'processed' } });
  return async (pool: Pool) =>
    (await bookings(pool, event)) === 1 && (await recordsOf(pool, event)).length === 1;
}

async function isCompleted(pool: Pool, id: string): Promise<boolean> {
  const store = createPostgresStore(pool, { scope, ...ampleTime });
  return (await store.claim({ ...times, id, token: 'b' })).state === 'completed';
}
