import { type Pool, type PoolConfig, types } from 'pg';
import type { WebhookEvent } from 'posthorn';
import type { PostgresInbox, PostgresTransaction } from 'posthorn/postgres';
import { createEvent } from 'posthorn/testing';
import { beforeAll } from 'vitest';
import { shutGate } from '../../support/gate.ts';
import { ampleDeadlines } from '../../support/limits.ts';
import { type Endpoint, type EndpointOptions, openEndpoint } from '../../support/open-endpoint.ts';
import { until } from '../../support/until.ts';
import type { DatabaseFixture } from './fixture.ts';

/** Bookings without a unique index: what runs twice is there twice. */
export async function createLedger(pool: Pool): Promise<void> {
  await pool.query('create table if not exists ledger (event_id text not null, amount integer)');
}

/** The pool of a database that has a ledger, once the tests run. */
export function useLedger(fixture: DatabaseFixture, settings: PoolConfig = {}): { readonly pool: Pool } {
  let pool: Pool | undefined;
  beforeAll(() => createLedger(fixture.connect()));
  return {
    get pool() {
      pool ??= fixture.connect(settings);
      return pool;
    },
  };
}

/** Books an event in a transaction of an inbox. */
export async function book(
  { id }: Pick<WebhookEvent, 'id'>,
  transaction: PostgresTransaction,
): Promise<void> {
  await transaction.query('insert into ledger (event_id, amount) values ($1, $2)', [id, 1250]);
}

/** What a handler does after it has booked the event. */
export type Handle = (transaction: PostgresTransaction, id: string) => unknown;

/** A receiver with one handler, of an inbox, which books first. */
export function openBook(
  inbox: PostgresInbox,
  handle: Handle = () => {},
  options: EndpointOptions = {},
): Promise<Endpoint> {
  return openEndpoint({ ...ampleDeadlines, ...options }, (receiver) => {
    receiver.on(
      'transfer.*',
      inbox.once('book', async (event, { transaction }) => {
        await book(event, transaction);
        await handle(transaction, event.id);
      }),
    );
  });
}

/** Sends a new event to a receiver whose handler waits at a gate, and resolves once it does. */
export async function holdRun(openWith: (pass: () => Promise<void>) => Promise<Pick<Endpoint, 'send'>>) {
  const gate = shutGate();
  const { send } = await openWith(gate.pass);
  const event = createEvent('transfer.succeeded');
  const running = send(event);
  await gate.held.nth(1);
  return { event, gate, running };
}

/** How often an event has been booked. */
export async function bookings(pool: Pool, { id }: Pick<WebhookEvent, 'id'>): Promise<number> {
  const text = 'select count(*) from ledger where event_id = $1';
  const { rows } = await pool.query<{ count: number }>({ text, values: [id], types });
  return Number(rows[0]?.count);
}

/** The handlers that have a record of an event. */
export async function recordsOf(pool: Pool, { id }: Pick<WebhookEvent, 'id'>): Promise<string[]> {
  const text = 'select handler from posthorn.inbox where event_key = $1 order by handler';
  const { rows } = await pool.query<{ handler: string }>({ text, values: [id], types });
  return rows.map(({ handler }) => handler);
}

/** The names of the reruns of an event that have a record. */
export async function rerunsOf(pool: Pool, { id }: Pick<WebhookEvent, 'id'>): Promise<string[]> {
  const text = 'select run from posthorn.inbox_reruns where event_key = $1 order by run';
  const { rows } = await pool.query<{ run: string }>({ text, values: [id], types });
  return rows.map(({ run }) => run);
}

/** How often an event was booked, and its records: what is left of it. */
export async function tracesOf(pool: Pool, event: Pick<WebhookEvent, 'id'>): Promise<[number, string[]]> {
  return [await bookings(pool, event), await recordsOf(pool, event)];
}

/**
 * Resolves once a run waits in a function of the inbox, such as `record_ranked`, for the row of another one.
 */
export function untilOneWaits(pool: Pool, writeFunction: string): Promise<void> {
  const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and query like $1
    and datname = current_database()`;
  return until('one run waits for another', async () => {
    const { rowCount } = await pool.query(waiting, [`%${writeFunction}%`]);
    return rowCount !== 0;
  });
}
